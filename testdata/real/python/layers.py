"""Two layers need not multiply; decorated callers of decorated functions do."""

import time

import requests
from requests.adapters import HTTPAdapter
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_fixed


def switched_off(url):
    session = requests.Session()
    session.mount("https://", HTTPAdapter(max_retries=0))
    for turn in range(3):  # site: max_attempts=3 amplification=3
        try:
            return session.get(url, timeout=3)
        except requests.ConnectionError:
            if turn == 2:
                raise
            time.sleep(1)


@retry(stop=stop_after_attempt(3), wait=wait_fixed(1), reraise=True)  # site: max_attempts=3
def inner(url):
    return requests.get(url, timeout=3)


@retry(stop=stop_after_attempt(4), wait=wait_fixed(5), reraise=True)  # site: max_attempts=4 amplification=12
def outer(url):
    return inner(url).json()


@retry(stop=stop_after_attempt(4), wait=wait_fixed(5), retry=retry_if_exception_type(KeyError), reraise=True)
def catches_something_else(url):
    return inner(url).json()["value"]
