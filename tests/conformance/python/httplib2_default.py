# fault: drop
import os
import time

import httplib2

client = httplib2.Http(timeout=5)


def ask():
    for attempt in range(2):
        try:
            return client.request(os.environ["SERVER"], "GET")
        except OSError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
