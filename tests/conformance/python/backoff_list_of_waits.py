# fault: drop
import os

import backoff
import requests


@backoff.on_exception(backoff.constant, requests.exceptions.RequestException, interval=2, max_tries=3)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
