import time

import requests

from pay.wire import rate


def quote(currency, amount):
    for attempt in range(4):
        try:
            return float(rate(currency)) * amount
        except requests.ConnectionError:
            if attempt == 3:
                raise
            time.sleep(5)
