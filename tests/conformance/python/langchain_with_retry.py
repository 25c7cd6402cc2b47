# fault: drop
import os

from langchain_openai import ChatOpenAI


def ask():
    model = ChatOpenAI(base_url=os.environ["SERVER"], api_key="k", model="m", max_retries=0).with_retry()
    return model.invoke("?")


ask()
