import functools
from .helpers import backoff as wait, policy


def retry(times=3):
    def decorate(function):
        tries = 0

        @functools.wraps(function)
        @policy(times)
        def wrapper(*args, **kwargs):
            nonlocal tries
            while tries < times:
                tries += 1
                try:
                    return function(*args, **kwargs)
                except Exception:
                    wait(tries)

        return wrapper

    return decorate
