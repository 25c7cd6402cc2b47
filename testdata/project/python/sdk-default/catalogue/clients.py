from openai import OpenAI


def language_model():
    return OpenAI(timeout=30)
