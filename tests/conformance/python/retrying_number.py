# fault: drop
import os

import requests
from retrying import retry


@retry(stop_max_attempt_number=4, wait_fixed=1000)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
