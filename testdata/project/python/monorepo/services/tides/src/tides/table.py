import time

import requests

import wire


def table(port):
    for attempt in range(2):
        try:
            return wire.text(f"https://tides.example.org/{port}")
        except requests.RequestException:
            if attempt == 1:
                raise
            time.sleep(15)
