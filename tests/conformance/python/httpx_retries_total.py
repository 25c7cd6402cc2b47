# fault: 503
import os

import httpx
from httpx_retries import Retry, RetryTransport


def fetch():
    client = httpx.Client(transport=RetryTransport(retry=Retry(total=3, backoff_factor=1)))
    return client.get(os.environ["SERVER"])


fetch()
