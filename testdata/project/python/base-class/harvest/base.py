import time

import requests


class Source:
    root = "https://example.com"
    tries = 4

    def __init__(self):
        self.session = requests.Session()

    def request(self, path):
        for number in range(self.tries):
            try:
                return self.session.get(self.root + path, timeout=10)
            except requests.ConnectionError:
                if number + 1 == self.tries:
                    raise
                time.sleep(number + 1)
