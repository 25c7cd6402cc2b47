import time

import requests


def get_text(url):
    for attempt in range(3):
        try:
            return requests.get(url, timeout=5).text
        except requests.ConnectionError:
            if attempt == 2:
                raise
            time.sleep(1 + attempt)
