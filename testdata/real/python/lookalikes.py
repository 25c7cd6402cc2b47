"""What only looks like a retry, and gives no finding."""

import errno
import os
import time
import uuid

import requests


def device_login(url, code):
    while True:
        answer = requests.post(url, data={"device_code": code}, timeout=10).json()
        if answer.get("error") == "authorization_pending":
            time.sleep(answer.get("interval", 5))
            continue
        if "error" in answer:
            raise PermissionError(answer["error"])
        return answer["access_token"]


def polled(url):
    while True:
        response = requests.get(url, timeout=10)
        response.raise_for_status()
        if response.json()["state"] != "running":
            return response.json()
        time.sleep(5)


def ready(url):
    for _ in range(60):  # site: kind=probe
        try:
            if requests.get(url, timeout=1).ok:
                return True
        except requests.ConnectionError:
            pass
        time.sleep(1)
    return False


def written(fd, data):
    while data:
        try:
            data = data[os.write(fd, data):]
        except OSError as error:
            if error.errno != errno.EAGAIN:
                raise


def unique(folder):
    while True:
        path = os.path.join(folder, uuid.uuid4().hex)
        try:
            return os.open(path, os.O_CREAT | os.O_EXCL)
        except FileExistsError:
            continue


def mirrors(path, hosts):
    for host in hosts:
        try:
            return requests.get(f"https://{host}/{path}", timeout=5)
        except requests.ConnectionError:
            print("Retrying with another mirror")
    raise TimeoutError(path)


def shrunk(url, texts):
    while texts:
        response = requests.put(url, json=texts, timeout=30)
        if response.status_code != 413:
            response.raise_for_status()
            return response.json()
        texts = texts[: len(texts) // 2]
    return []


class Breaker:
    def __init__(self):
        self.failures = 0
        self.opened = 0.0

    def get(self, url):
        if self.failures > 5 and time.monotonic() - self.opened < 30:
            raise ConnectionError("open")
        try:
            response = requests.get(url, timeout=5)
        except requests.ConnectionError:
            self.failures += 1
            self.opened = time.monotonic()
            raise
        self.failures = 0
        return response


def skipped(urls):
    found = []
    for url in urls:
        try:
            found.append(requests.get(url, timeout=5))
        except requests.ConnectionError:
            continue
    return found


def test_becomes_ready():
    while True:
        try:
            requests.get("http://localhost:8080")
            break
        except requests.ConnectionError:
            pass
