# fault: drop
import os

import httpx
import stamina


@stamina.retry(on=httpx.TransportError, attempts=3)
def fetch():
    return httpx.get(os.environ["SERVER"])


fetch()
