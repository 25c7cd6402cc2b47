# fault: 503
import os

import polling2
import requests


def ready():
    return polling2.poll(lambda: requests.get(os.environ["SERVER"], timeout=5).ok, 2, max_tries=6)


ready()
