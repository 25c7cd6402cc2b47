import random
import time

from openai import APIConnectionError

from .clients import language_model


def summary_of(text):
    model = language_model()
    for attempt in range(4):
        try:
            return model.responses.create(model="small", input=text).output_text
        except APIConnectionError:
            if attempt == 3:
                raise
            time.sleep(random.uniform(1, 2) * 2**attempt)
