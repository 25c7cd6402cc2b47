import time

import requests


def again(call, tries=3):
    for attempt in range(tries):
        try:
            return call()
        except requests.ConnectionError:
            if attempt == tries - 1:
                raise
            time.sleep(2**attempt)
