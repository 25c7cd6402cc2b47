# fault: 503
import os
import time

from langchain_openai import ChatOpenAI

client = ChatOpenAI(base_url=os.environ["SERVER"], api_key="k", model="m")


def ask():
    for attempt in range(2):
        try:
            return client.invoke("?")
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
