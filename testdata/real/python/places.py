"""The operation may sit in the loop's condition, before the loop, or behind a match."""

import time

import requests


def in_the_condition(url):
    left = 5
    while (response := requests.get(url, timeout=3)).status_code == 503:  # site: cap=count max_attempts=5 retried_statuses=503
        left -= 1
        if left == 0:
            raise TimeoutError(url)
        time.sleep(1)
    return response


def before_the_loop(url):
    response = requests.get(url, timeout=3)
    tries = 0
    while response.status_code >= 500:  # site: cap=count delay=fixed
        tries += 1
        if tries > 3:
            raise TimeoutError(url)
        time.sleep(1)
        response = requests.get(url, timeout=3)
    return response


def behind_an_else(url):
    for turn in range(3):  # site: cap=count max_attempts=3 delay=fixed
        try:
            response = requests.get(url, timeout=3)
        except requests.ConnectionError:
            pass
        else:
            return response
        time.sleep(1)
    else:
        raise TimeoutError(url)


def behind_a_match(url):
    for turn in range(3):  # site: cap=count max_attempts=3 retried_statuses=429,503
        response = requests.get(url, timeout=3)
        match response.status_code:
            case 429 | 503:
                time.sleep(2)
            case _:
                return response
    raise TimeoutError(url)
