# fault: drop
import os

import requests
from retry.api import retry_call


def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


def patiently():
    return retry_call(fetch, exceptions=requests.exceptions.ConnectionError, tries=3, delay=1)


patiently()
