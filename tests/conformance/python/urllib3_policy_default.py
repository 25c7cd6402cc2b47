# fault: 503
import os

import urllib3


def fetch():
    pool = urllib3.PoolManager(retries=urllib3.Retry(status_forcelist=[503], backoff_factor=1))
    return pool.request("GET", os.environ["SERVER"], timeout=5)


fetch()
