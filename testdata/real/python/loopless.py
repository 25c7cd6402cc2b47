"""A retry may have no loop."""

import time

import requests
from celery import Celery

app = Celery("jobs")


@app.task(bind=True, max_retries=3)  # site: kind=task-queue
def notify(self, url):
    try:
        requests.put(url, timeout=3).raise_for_status()
    except requests.RequestException as error:
        raise self.retry(exc=error, countdown=30)


def second_try(url, token):
    try:
        return requests.get(url, timeout=3)
    except requests.ConnectionError:
        time.sleep(1)
        return requests.get(url, timeout=3)  # site: kind=straight-line max_attempts=2


def first(url, left):
    try:
        return requests.get(url, timeout=3)
    except requests.ConnectionError:
        return second(url, left)


def second(url, left):
    if left == 0:
        raise TimeoutError(url)
    time.sleep(1)
    return first(url, left - 1)  # site: kind=recursion


def worker(jobs):
    while True:  # site: delay=none
        job = jobs.get()
        try:
            requests.put(job.url, data=job.data, timeout=3)
        except requests.ConnectionError:
            jobs.put(job)
