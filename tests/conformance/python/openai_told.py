# fault: 503
import os
import time

import openai

client = openai.OpenAI(base_url=os.environ["SERVER"], api_key="k", max_retries=4)


def ask():
    for attempt in range(2):
        try:
            return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
        except openai.APIError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
