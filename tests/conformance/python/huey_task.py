# fault: drop
import os

import requests
from huey import MemoryHuey

huey = MemoryHuey(immediate=True)


@huey.task(retries=3)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5).status_code


fetch()
