from openai import OpenAI


def language_model():
    return OpenAI(timeout=30, max_retries=0)
