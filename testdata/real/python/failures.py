"""Failure is often no exception."""

import enum
import subprocess
import time

import requests


def status(url):
    for _ in range(3):  # site: cap=count max_attempts=3 retried_statuses=500-599
        response = requests.get(url, timeout=3)
        if response.status_code < 500:
            return response
        time.sleep(1)
    raise TimeoutError(url)


def try_once(url):
    try:
        return requests.get(url, timeout=3).json()
    except requests.RequestException:
        return None


def none(url):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=fixed
        answer = try_once(url)
        if answer is not None:
            return answer
        time.sleep(1)
    raise TimeoutError(url)


def sent(url, data):
    try:
        requests.put(url, data=data, timeout=3)
    except requests.ConnectionError:
        return False
    return True


def false(url, data):
    tries = 0
    while not sent(url, data):  # site: cap=count max_attempts=5 delay=fixed
        tries += 1
        if tries == 5:
            raise TimeoutError(url)
        time.sleep(3)


class Outcome(enum.Enum):
    DONE = 1
    BUSY = 2


def push(url, data):
    response = requests.put(url, data=data, timeout=3)
    return Outcome.BUSY if response.status_code == 503 else Outcome.DONE


def enumerated(url, data):
    for _ in range(4):  # site: cap=count max_attempts=4 delay=fixed
        if push(url, data) is Outcome.DONE:
            return
        time.sleep(1)
    raise TimeoutError(url)


def text_in_a_good_answer(url):
    for _ in range(4):  # site: cap=count max_attempts=4 delay=fixed
        body = requests.get(url, timeout=3).json()
        if body.get("error") != "overloaded":
            return body
        time.sleep(2)
    raise TimeoutError(url)


def call(url, out):
    try:
        out["answer"] = requests.get(url, timeout=3).json()
    except requests.RequestException as error:
        out["error"] = error


def by_an_out_parameter(url):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=fixed
        out = {}
        call(url, out)
        if "error" not in out:
            return out["answer"]
        time.sleep(1)
    raise TimeoutError(url)


def exit_status(address):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=fixed
        done = subprocess.run(["curl", "--fail", address], timeout=60)
        if done.returncode == 0:
            return
        time.sleep(1)
    raise RuntimeError(address)


def future(pool, url):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=fixed
        task = pool.submit(requests.get, url, timeout=3)
        if task.exception() is None:
            return task.result()
        time.sleep(1)
    raise TimeoutError(url)
