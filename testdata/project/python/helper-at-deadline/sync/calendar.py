import random
import time

import requests

from sync import Deadline


def events(url):
    deadline = Deadline(120)
    while True:
        deadline.check()
        try:
            return requests.get(url, timeout=5).text
        except requests.ConnectionError:
            time.sleep(random.uniform(1, 3))
