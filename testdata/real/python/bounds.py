"""The bound is seldom the loop's counter."""

import asyncio
import itertools
import time

import httpx
import requests


def by_the_delay(url):
    pause = 1
    while pause < 60:  # site: cap=count max_attempts=6 delay=exponential
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError:
            time.sleep(pause)
            pause *= 2
    raise TimeoutError(url)


def by_an_iterator_that_ends(url):
    pauses = iter([1, 3, 9])
    while True:  # site: cap=count max_attempts=4 delay=exponential
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError:
            pause = next(pauses, None)
            if pause is None:
                raise
            time.sleep(pause)


def by_an_iterator_that_does_not(url):
    for pause in itertools.chain(range(10), itertools.repeat(30)):  # site: cap=none max_attempts=null
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError:
            time.sleep(pause)


def by_a_list_that_grows(url):
    errors = []
    while len(errors) < 4:  # site: cap=count max_attempts=4 delay=fixed
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError as error:
            errors.append(error)
            time.sleep(2)
    raise errors[-1]


def by_a_list_of_delays(url):
    for pause in (1, 5, 25):  # site: cap=count max_attempts=3 delay=exponential
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError:
            time.sleep(pause)
    raise TimeoutError(url)


class Fetcher:
    LIMIT = 5

    def __init__(self):
        self.failures = 0

    def exhausted(self):
        return self.failures >= self.LIMIT

    def fetch(self, url):
        self.failures = 0
        while not self.exhausted():  # site: cap=count max_attempts=5 delay=fixed
            try:
                return requests.get(url, timeout=3)
            except requests.ConnectionError:
                self.failures += 1
                time.sleep(1)
        raise TimeoutError(url)


def raise_when_over(begun, seconds):
    if time.monotonic() - begun > seconds:
        raise TimeoutError


def by_a_helper(url):
    begun = time.monotonic()
    while True:  # site: cap=deadline delay=fixed
        try:
            return requests.get(url, timeout=3)
        except requests.ConnectionError:
            raise_when_over(begun, 120)
            time.sleep(5)


async def by_a_limit_around(client: httpx.AsyncClient, url):
    async with asyncio.timeout(60):
        while True:  # site: cap=deadline delay=fixed
            try:
                return await client.get(url)
            except httpx.TransportError:
                await asyncio.sleep(2)


def by_a_flag(url, refresh):
    second = False
    while True:  # site: cap=count max_attempts=2
        response = requests.get(url, timeout=3)
        if response.status_code != 503 or second:
            return response
        second = True
        time.sleep(1)


def by_recursion(url, left=3):
    try:
        return requests.get(url, timeout=3)
    except requests.ConnectionError:
        if not left:
            raise
        time.sleep(1)
        return by_recursion(url, left - 1)  # site: kind=recursion cap=count max_attempts=4


def by_nothing(url):
    while True:  # site: cap=none max_attempts=null
        try:
            return requests.get(url, timeout=3)
        except Exception as error:
            print("again", error)
            time.sleep(10)


def by_a_callee_that_decides(url, policy):
    while True:  # site: max_attempts=null
        try:
            return requests.get(url, timeout=3)
        except Exception as error:
            policy.failed(error)
            time.sleep(10)
