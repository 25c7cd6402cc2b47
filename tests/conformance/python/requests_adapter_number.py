# fault: drop
import os

import requests
from requests.adapters import HTTPAdapter


def fetch():
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=3))
    return session.get(os.environ["SERVER"], timeout=5)


fetch()
