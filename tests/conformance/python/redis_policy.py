# fault: drop
import os

import redis
from redis.backoff import ExponentialBackoff
from redis.retry import Retry


def count():
    client = redis.Redis(port=int(os.environ["PORT"]), protocol=2, retry=Retry(ExponentialBackoff(cap=1, base=0.01), 4))
    return client.incr("hits")


count()
