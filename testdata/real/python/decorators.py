"""Decorators are values."""

import requests
from tenacity import Retrying, retry, stop_after_attempt, wait_exponential, wait_fixed

again = retry(stop=stop_after_attempt(4), wait=wait_fixed(2), reraise=True)


@again  # site: cap=count max_attempts=4 delay=fixed
def aliased(url):
    return requests.get(url, timeout=3)


def plain(url):
    return requests.get(url, timeout=3)


def called(url):
    return retry(stop=stop_after_attempt(3), wait=wait_fixed(1), reraise=True)(plain)(url)  # site: cap=count max_attempts=3


def patient(tries):
    return retry(stop=stop_after_attempt(tries), wait=wait_exponential(max=20), reraise=True)


@patient(5)  # site: cap=count max_attempts=5 delay=exponential
def built(url):
    return requests.get(url, timeout=3)


class Api:
    policy = retry(stop=stop_after_attempt(3), wait=wait_fixed(1), reraise=True)

    @policy  # site: cap=count max_attempts=3 delay=fixed
    def get(self, url):
        return requests.get(url, timeout=3)


def iterated(url):
    for attempt in Retrying(stop=stop_after_attempt(6), wait=wait_fixed(1), reraise=True):  # site: cap=count max_attempts=6
        with attempt:
            return requests.get(url, timeout=3)


def run(url):
    policy = Retrying(stop=stop_after_attempt(2), wait=wait_fixed(1), reraise=True)
    return policy(requests.get, url, timeout=3)  # site: cap=count max_attempts=2
