# fault: 503
import os
import time

import anthropic

client = anthropic.Anthropic(base_url=os.environ["SERVER"], api_key="k")


def ask():
    for attempt in range(2):
        try:
            return client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}])
        except anthropic.APIError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
