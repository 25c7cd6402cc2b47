# fault: 503
import os
import time

from groq import Groq

client = Groq(base_url=os.environ["SERVER"], api_key="k")


def ask():
    for attempt in range(2):
        try:
            return client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}])
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
