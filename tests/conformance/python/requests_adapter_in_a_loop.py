# fault: drop
import os
import time

import requests
from requests.adapters import HTTPAdapter


def fetch():
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=2))
    for attempt in range(3):
        try:
            return session.get(os.environ["SERVER"], timeout=5)
        except requests.ConnectionError:
            if attempt == 2:
                raise
            time.sleep(2**attempt)


fetch()
