import requests
from celery import shared_task

from .orders import order


@shared_task(autoretry_for=(requests.ConnectionError,), max_retries=3, retry_backoff=True)
def archive(number):
    return order(number)["state"]
