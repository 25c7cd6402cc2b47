import time

import requests

from .base import Source


class Weather(Source):
    root = "https://weather.example.com"

    def today(self, town):
        for _ in range(3):
            try:
                return self.request(f"/today/{town}").json()
            except requests.ConnectionError as error:
                last = error
                time.sleep(20)
        raise last
