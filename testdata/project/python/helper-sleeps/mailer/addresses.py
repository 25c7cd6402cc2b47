import requests

from mailer.pacing import rest


def is_known(address):
    for attempt in range(5):
        try:
            return requests.get("https://mail.example.org/known", params={"of": address}, timeout=5).ok
        except requests.ConnectionError:
            if attempt == 4:
                raise
            rest(attempt)
