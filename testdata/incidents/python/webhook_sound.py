"""Hands the events of a shop on to the webhooks of its partners, and does no harm where one of them is down."""

import logging
import random
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import requests

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
MAX_DELAY = 30.0
# All attempts and waits together.
TIME_FOR_AN_EVENT = 240.0
PASSING = (408, 425, 429, 500, 502, 503, 504)


class DeliveryFailed(Exception):
    """The partner did not take the event; the queue keeps it."""


def handler(message, context=None):
    """Called by the queue with one event at a time."""
    partner = message["partner"]
    receipt = deliver(partner["webhook"], message["event"])
    log.info("event %s taken by %s as %s", message["event"]["id"], partner["name"], receipt.get("id"))
    return receipt


def deliver(url, event):
    # The event's own number: the same over all attempts, and over redeliveries by the queue.
    headers = {"Idempotency-Key": event["id"]}
    deadline = time.monotonic() + TIME_FOR_AN_EVENT

    for attempt in range(1, MAX_ATTEMPTS + 1):
        delay = random.uniform(0.5, 1.0) * min(2**attempt, MAX_DELAY)
        try:
            response = requests.post(url, json=event, headers=headers, timeout=(3.05, 10))
        except (requests.ConnectionError, requests.Timeout) as error:
            problem = str(error)
        else:
            if response.status_code < 300:
                return response.json()
            problem = f"status {response.status_code}"
            if response.status_code not in PASSING:
                raise DeliveryFailed(f"{url} refuses event {event['id']}: {problem}")
            delay = max(delay, server_wait(response))

        log.warning("%s: %s, attempt %d of %d", url, problem, attempt, MAX_ATTEMPTS)
        if attempt == MAX_ATTEMPTS or time.monotonic() + delay > deadline:
            raise DeliveryFailed(f"{url} did not take event {event['id']}: {problem}")
        time.sleep(delay)

    raise DeliveryFailed(f"{url} was not asked")


def server_wait(response):
    """The seconds for which the server wants to be left alone; 0 where it does not say."""
    advice = response.headers.get("Retry-After", "").strip()
    if advice.isdigit():
        return float(advice)
    try:
        until = parsedate_to_datetime(advice)
    except (TypeError, ValueError):
        return 0.0
    return max(0.0, (until - datetime.now(timezone.utc)).total_seconds())
