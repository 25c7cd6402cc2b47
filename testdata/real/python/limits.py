"""The kinds of code that the README's section "Limits" tells of, one each."""
import asyncio
import contextlib
import ctypes
import functools
import queue
import subprocess
import threading
import time

import aiohttp
import requests
from twisted.internet import defer, reactor

from .settings import settings

card = ctypes.CDLL("libcard.so")


def work_that_is_put_back(jobs: queue.Queue):
    while True:  # site: cap=none delay=none
        url = jobs.get()
        try:
            requests.get(url, timeout=5)
        except requests.RequestException:
            jobs.put(url)


def whatever_is_passed_in(work, tries=3):
    for turn in range(tries):  # site: remote=unknown cap=count max_attempts=3 delay=none
        try:
            return work()
        except OSError:
            if turn == tries - 1:
                raise


class Judge:
    def __init__(self):
        self.left = 3

    def goes_on(self):
        self.left -= 1
        return self.left > 0

    def load(self, url):
        while True:  # site: cap=count max_attempts=3 delay=none
            try:
                return requests.get(url, timeout=5)
            except requests.ConnectionError:
                if not self.goes_on():
                    raise


class Deferring:
    def pause(self, seconds):
        done = defer.Deferred()
        reactor.callLater(seconds, done.callback, None)
        return done

    @defer.inlineCallbacks
    def load(self, agent, url):
        left = 5
        while True:  # site: cap=count max_attempts=6 remote=unknown
            try:
                return (yield agent.request(b"GET", url))
            except Exception:
                if not left:
                    raise
                yield self.pause(2 ** (5 - left))
                left -= 1


def what_fails_with_a_number(data):
    while card.send_block(data) != 0:
        time.sleep(1)


def the_same_once_more(url, order):
    try:
        return requests.post(url, json=order, timeout=5)
    except requests.ReadTimeout:
        return requests.post(url, json=order, timeout=5)  # site: cap=count max_attempts=2


def by_way_of_another(url):
    answer = requests.get(url, timeout=5)
    if answer.status_code >= 500:
        return once_more(url)
    return answer


def once_more(url):
    return by_way_of_another(url)  # site: cap=none delay=none


def in_halves(url, orders):
    try:
        return [requests.post(url, json=orders, timeout=5)]
    except requests.ReadTimeout:
        half = len(orders) // 2
        return in_halves(url, orders[:half]) + in_halves(url, orders[half:])


def from_another_host(hosts, path):
    for host in hosts:
        try:
            return requests.get(host + path, timeout=5)
        except requests.ConnectionError:
            continue


def when_somebody_says_so(url):
    while True:  # site: cap=none delay=unknown
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if input("Once more? ") != "y":
                raise


def by_what_the_error_says(model, text):
    for turn in range(5):  # site: remote=unknown cap=count max_attempts=5 delay=exponential retried_statuses=
        try:
            return model.complete(text)
        except Exception as error:
            if "rate" not in str(error).lower() or turn == 4:
                raise
            time.sleep(2 ** turn)


def as_often_as_a_setting_says(url):
    for turn in range(settings.tries):  # site: cap=count max_attempts=null delay=fixed
        try:
            return requests.get(url, timeout=5)
        except requests.ConnectionError:
            if turn == settings.tries - 1:
                raise
            time.sleep(settings.pause)


async def within_a_limit_around_it(session: aiohttp.ClientSession, url):
    async with asyncio.timeout(30):
        while True:  # site: cap=deadline delay=fixed
            try:
                async with session.get(url) as answer:
                    return await answer.json()
            except aiohttp.ClientError:
                await asyncio.sleep(1)


def until_it_has_begun():
    subprocess.Popen(["server", "--port", "8000"])
    for _ in range(30):  # site: cap=count max_attempts=30 delay=fixed
        try:
            return requests.get("http://localhost:8000/health", timeout=1)
        except requests.ConnectionError:
            time.sleep(1)
    raise RuntimeError("the server does not begin")


def until_it_is_done(url):
    while True:
        answer = requests.get(url, timeout=5)
        answer.raise_for_status()
        if answer.json()["state"] == "done":
            return answer
        time.sleep(2)


def by_a_name_of_the_moment(service, name):
    while True:
        try:
            return getattr(service, name)()
        except ConnectionError:
            continue


class Again:
    def __init__(self, tries):
        self.tries = tries

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            for turn in range(self.tries):  # site: cap=caller
                try:
                    return function(*args, **kwargs)
                except requests.RequestException:
                    if turn == self.tries - 1:
                        raise
                    time.sleep(1)

        return wrapped


@Again(4)  # site: kind=decorator cap=count max_attempts=4 delay=fixed
def load_as_its_class_says(url):
    return requests.get(url, timeout=5)


def from_a_timer(url):
    try:
        requests.get(url, timeout=5)
    except requests.ConnectionError:
        threading.Timer(0, from_a_timer, args=(url,)).start()


def page_by_page(url):
    page = 1
    while True:  # site: kind=daemon delay=none
        try:
            answer = requests.get(url, params={"page": page}, timeout=5)
            answer.raise_for_status()
        except requests.RequestException:
            continue
        yield answer.json()
        page += 1


def without_a_handler(url):
    while True:  # site: cap=none delay=none
        with contextlib.suppress(requests.ConnectionError):
            return requests.get(url, timeout=5)
