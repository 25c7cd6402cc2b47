# fault: 503
import os
import time

from github import Auth, Github

client = Github(auth=Auth.Token("t"), base_url=os.environ["SERVER"]).get_repo("a/b", lazy=True)


def ask():
    for attempt in range(2):
        try:
            return client.create_issue("t")
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
