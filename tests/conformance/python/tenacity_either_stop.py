# fault: drop
import os

import requests
from tenacity import retry, stop_after_attempt, stop_after_delay, wait_exponential


@retry(stop=stop_after_attempt(6) | stop_after_delay(600), wait=wait_exponential(max=10))
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
