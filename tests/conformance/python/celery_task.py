# fault: drop
import os

import requests
from celery import Celery

app = Celery("shop")
app.conf.task_always_eager = True


@app.task(autoretry_for=(requests.ConnectionError,), retry_backoff=True)
def fetch():
    return requests.get(os.environ["SERVER"], timeout=5).status_code


fetch.delay()
