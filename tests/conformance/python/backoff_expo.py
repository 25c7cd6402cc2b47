# fault: drop
import os

import backoff
import requests


@backoff.on_exception(backoff.expo, requests.exceptions.RequestException, max_tries=5, max_value=8)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
