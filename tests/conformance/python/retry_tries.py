# fault: drop
import os

import requests
from retry import retry


@retry(requests.exceptions.ConnectionError, tries=4, delay=1, backoff=2)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
