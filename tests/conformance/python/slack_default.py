# fault: drop
import os
import time

from slack_sdk import WebClient

client = WebClient(token="t", base_url=os.environ["SERVER"] + "/")


def ask():
    for attempt in range(2):
        try:
            return client.users_list()
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
