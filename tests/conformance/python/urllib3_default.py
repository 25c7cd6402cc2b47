# fault: drop
import os
import time

import urllib3


def fetch():
    pool = urllib3.PoolManager()
    for attempt in range(2):
        try:
            return pool.request("GET", os.environ["SERVER"], timeout=5)
        except urllib3.exceptions.MaxRetryError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


fetch()
