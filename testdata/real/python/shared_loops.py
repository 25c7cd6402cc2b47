"""Pagination and retry share one loop; two policies live in one loop; a broad except may be narrow."""

import time

import requests


def pages(url):
    found, page, failures = [], 1, 0
    while True:  # site: cap=count max_attempts=4 delay=fixed
        try:
            response = requests.get(url, params={"page": page}, timeout=3)
            response.raise_for_status()
        except requests.RequestException:
            failures += 1
            if failures > 3:
                raise
            time.sleep(2)
            continue
        failures = 0
        items = response.json()
        if not items:
            return found
        found.extend(items)
        page += 1


def two_policies(url):
    connects = 0
    while True:  # site: max_attempts=null
        try:
            return requests.get(url, timeout=3)
        except requests.ReadTimeout:
            time.sleep(1)
        except requests.ConnectionError:
            connects += 1
            if connects == 3:
                raise
            time.sleep(1)


def is_transient(error):
    return isinstance(error, (requests.ConnectionError, requests.Timeout))


def narrow(url):
    for turn in range(4):  # site: cap=count max_attempts=4 retried_statuses=
        try:
            response = requests.get(url, timeout=3)
            response.raise_for_status()
            return response
        except Exception as error:
            if not is_transient(error) or turn == 3:
                raise
            time.sleep(2**turn)


def by_the_hierarchy(url):
    for turn in range(3):  # site: cap=count max_attempts=3 retried_statuses=
        try:
            response = requests.get(url, timeout=3)
            response.raise_for_status()
            return response
        except requests.HTTPError:
            raise
        except OSError:
            if turn == 2:
                raise
            time.sleep(1)


def with_a_false_response(url):
    for turn in range(3):  # site: cap=count max_attempts=3 retried_statuses=400-599
        try:
            response = requests.get(url, timeout=3)
            response.raise_for_status()
            return response
        except requests.HTTPError as error:
            # Never true of an error: the answer is false.
            if error.response and error.response.status_code == 404:
                raise
            time.sleep(1)
    raise TimeoutError(url)
