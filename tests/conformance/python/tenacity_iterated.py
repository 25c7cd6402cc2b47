# fault: drop
import os

import requests
from tenacity import Retrying, stop_after_attempt, wait_fixed


def fetch():
    for attempt in Retrying(stop=stop_after_attempt(3), wait=wait_fixed(1), reraise=True):
        with attempt:
            requests.get(os.environ["SERVER"], timeout=5)


fetch()
