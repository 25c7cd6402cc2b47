"""Timeouts are set elsewhere: what cannot be seen is not reported."""

import functools
import time

import httpx
import requests

client = httpx.Client(timeout=5)
session = requests.Session()
session.request = functools.partial(session.request, timeout=5)


def of_the_client(url):
    for turn in range(3):  # site: max_attempts=3 timeout=5.0
        try:
            return client.get(url)
        except httpx.TransportError:
            if turn == 2:
                raise
            time.sleep(1)


def of_a_patched_method(url):
    for turn in range(3):  # site: max_attempts=3 timeout=unknown
        try:
            return session.get(url)
        except requests.ConnectionError:
            if turn == 2:
                raise
            time.sleep(1)


def passed_in(given: requests.Session, url):
    for turn in range(3):  # site: max_attempts=3
        try:
            return given.get(url, timeout=(3, 10))
        except requests.ConnectionError:
            if turn == 2:
                raise
            time.sleep(1)
