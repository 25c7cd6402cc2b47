"""The wait is seldom a sleep in the handler."""

import asyncio
import itertools
import threading
import time

import requests

SESSION = requests.Session()


def at_the_top(url):
    pause = 0
    for turn in range(5):  # site: cap=count max_attempts=5 delay=exponential
        if turn:
            pause = 2**turn
            time.sleep(pause)
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError as error:
            last = error
    raise last


def in_the_condition(url, stop: threading.Event):
    left = 6
    while not stop.wait(2):  # site: cap=count max_attempts=6 delay=fixed
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            left -= 1
            if left == 0:
                raise


def by_an_event(url, stop: threading.Event):
    for turn in range(4):  # site: max_attempts=4 delay=linear
        try:
            return SESSION.get(url, timeout=3)
        except requests.Timeout:
            if turn == 3:
                raise
            stop.wait(5 * (turn + 1))


class Backoff:
    def __init__(self):
        self.length = 0.5

    def sleep(self):
        time.sleep(self.length)
        self.length = min(self.length * 2, 8)


def by_a_method(url):
    backoff = Backoff()
    for _ in range(6):  # site: cap=count max_attempts=6 delay=exponential
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            backoff.sleep()
    raise TimeoutError(url)


class Client:
    def __init__(self, pause=3):
        self.pause = pause

    def _wait(self):
        time.sleep(self.pause)

    def get(self, url):
        tries = 0
        while True:  # site: cap=count max_attempts=4 delay=fixed
            try:
                return SESSION.get(url, timeout=3)
            except requests.ConnectionError:
                tries += 1
                if tries > 3:
                    raise
            self._wait()


def lengths(base):
    for turn in itertools.count():
        yield base * 2**turn


def by_an_iterator(url):
    pauses = lengths(1)
    for _ in range(5):  # site: cap=count max_attempts=5 delay=exponential
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            time.sleep(next(pauses))
    raise TimeoutError(url)


def in_slices(url, stopped):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=fixed
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            for _ in range(10):
                time.sleep(0.5)
    raise TimeoutError(url)


def injected(url, sleep=time.sleep):
    for turn in range(3):  # site: cap=count max_attempts=3 delay=fixed
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            sleep(4)
    raise TimeoutError(url)


async def not_awaited(client, url):
    for _ in range(3):  # site: cap=count max_attempts=3 delay=none
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            asyncio.sleep(4)
    raise TimeoutError(url)


def yielded(url):
    for turn in range(4):  # site: cap=count max_attempts=4
        try:
            return SESSION.get(url, timeout=3)
        except requests.ConnectionError:
            yield 2**turn
