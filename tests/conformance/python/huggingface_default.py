# fault: 503
import os
import time

from huggingface_hub.utils import http_backoff


def fetch():
    for attempt in range(2):
        try:
            response = http_backoff("GET", os.environ["SERVER"], timeout=5)
            response.raise_for_status()
            return response
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


fetch()
