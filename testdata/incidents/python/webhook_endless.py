"""Hands the events of a shop on to the webhooks of its partners."""

import logging

import requests

log = logging.getLogger(__name__)


def handler(message, context=None):
    """Called by the queue with one event at a time."""
    partner = message["partner"]
    receipt = deliver(partner["webhook"], message["event"])
    log.info("event %s taken by %s as %s", message["event"]["id"], partner["name"], receipt.get("id"))
    return receipt


def deliver(url, event):
    while True:
        response = requests.post(url, json=event)
        if response.status_code < 500:
            return response.json()
        log.warning("%s answered %d, once more", url, response.status_code)
