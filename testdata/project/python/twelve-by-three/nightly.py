import time

import requests

from feeds import fetch


def refresh(feed):
    failed = 0
    while True:
        try:
            feed.text = fetch(feed.url)
            return feed
        except requests.ConnectionError:
            failed += 1
            if failed == 12:
                raise
            time.sleep(30)
