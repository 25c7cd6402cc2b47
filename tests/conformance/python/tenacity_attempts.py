# fault: drop
import os

import requests
from tenacity import retry, stop_after_attempt, wait_fixed


@retry(stop=stop_after_attempt(4), wait=wait_fixed(1))
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
