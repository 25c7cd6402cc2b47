"""Hands the events of a shop on to the webhooks of its partners, and is patient with them."""

import logging
import random
import time

import requests

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 5
MAX_DELAY = 30.0


class DeliveryFailed(Exception):
    """The partner did not take the event."""


def handler(message, context=None):
    """Called by the queue with one event at a time."""
    partner = message["partner"]
    receipt = deliver(partner["webhook"], message["event"])
    log.info("event %s taken by %s as %s", message["event"]["id"], partner["name"], receipt.get("id"))
    return receipt


def deliver(url, event):
    for attempt in range(MAX_ATTEMPTS):
        response = requests.post(url, json=event)
        if response.status_code < 500:
            return response.json()

        advice = response.headers.get("Retry-After")
        if advice is not None:
            delay = float(advice)
        else:
            delay = 2**attempt + random.random()
        log.warning("%s answered %d, attempt %d of %d", url, response.status_code, attempt + 1, MAX_ATTEMPTS)
        time.sleep(min(delay, MAX_DELAY))

    raise DeliveryFailed(f"{url} did not take event {event['id']} in {MAX_ATTEMPTS} attempts")
