import time

import requests


def fetch(url):
    for attempt in range(1, 4):
        try:
            response = requests.get(url, timeout=5)
            response.raise_for_status()
            return response.text
        except requests.ConnectionError:
            if attempt == 3:
                raise
            time.sleep(attempt)
