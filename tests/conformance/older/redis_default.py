# fault: drop
import os
import time

import redis

client = redis.Redis(port=int(os.environ["PORT"]), protocol=2, socket_timeout=5)


def ask():
    for attempt in range(2):
        try:
            return client.incr("hits")
        except redis.ConnectionError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
