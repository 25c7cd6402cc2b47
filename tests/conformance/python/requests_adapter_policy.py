# fault: 503
import os

import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry


def fetch():
    session = requests.Session()
    session.mount("http://", HTTPAdapter(max_retries=Retry(total=4, backoff_factor=1, status_forcelist=[503])))
    return session.get(os.environ["SERVER"], timeout=5)


fetch()
