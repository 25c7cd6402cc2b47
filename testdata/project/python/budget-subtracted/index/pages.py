import time

import requests


class Unreachable(Exception):
    pass


def page(url, budget):
    while budget.take():
        try:
            return requests.get(url, timeout=5).text
        except requests.ConnectionError:
            time.sleep(2)
    raise Unreachable(url)
