# fault: 503
import os

import httpx
from httpx_retries import Retry, RetryTransport


def fetch():
    client = httpx.Client(transport=RetryTransport(retry=Retry()))
    return client.get(os.environ["SERVER"])


fetch()
