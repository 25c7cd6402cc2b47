# fault: drop
import os
import time

from jira import JIRA

client = JIRA(os.environ["SERVER"], get_server_info=False)


def ask():
    for attempt in range(2):
        try:
            return client.issue("A-1")
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
