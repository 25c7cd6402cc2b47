# fault: drop
import os

import requests
from opnieuw import retry


@retry(retry_on_exceptions=requests.exceptions.ConnectionError)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5)


fetch()
