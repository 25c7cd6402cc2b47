import time

import requests


class GaveUp(Exception):
    pass


def rate(currency):
    for attempt in range(3):
        try:
            return requests.get(f"https://rates.example.com/{currency}", timeout=5).text
        except requests.ConnectionError as error:
            if attempt == 2:
                raise GaveUp(currency) from error
            time.sleep(1 + attempt)
