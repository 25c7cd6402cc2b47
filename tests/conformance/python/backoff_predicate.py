# fault: 503
import os

import backoff
import requests


@backoff.on_predicate(backoff.fibo, lambda response: response.status_code == 503, max_tries=4, max_value=8)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
