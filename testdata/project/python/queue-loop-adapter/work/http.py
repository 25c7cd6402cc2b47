import requests
from requests.adapters import HTTPAdapter
from urllib3.util import Retry


def session():
    made = requests.Session()
    made.mount("https://", HTTPAdapter(max_retries=Retry(total=2, backoff_factor=0.5)))
    return made
