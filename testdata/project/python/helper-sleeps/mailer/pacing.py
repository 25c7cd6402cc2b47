import random
import time


def rest(attempt):
    ceiling = min(30, 2**attempt)
    time.sleep(ceiling / 2 + random.uniform(0, ceiling / 2))
