# fault: 503
import os
import time

import opensearchpy

client = opensearchpy.OpenSearch(os.environ["SERVER"])


def ask():
    for attempt in range(2):
        try:
            return client.search(index="a")
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
