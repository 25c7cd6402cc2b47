"""Brings the catalogue of a shop, some 9,000 items, into a partner's search index every night."""

import logging
import random
import sys
import time
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

import requests

log = logging.getLogger(__name__)

INDEX = "https://search.example.com/v2/items"
ATTEMPTS = 4
TIME_FOR_ALL = 3 * 3600.0
# Repetitions for the whole job, whichever item needs them.
REPETITIONS = 900
BUSY = (429, 500, 502, 503, 504)


class Rejected(Exception):
    """The index does not want this item."""


class OutOfBudget(Exception):
    """The index is in trouble: the job stops, and goes on tomorrow where it stopped."""


class Budget:
    """What all items together may cost beyond one request each."""

    def __init__(self):
        self.repetitions = REPETITIONS
        self.deadline = time.monotonic() + TIME_FOR_ALL

    def pay(self, wait):
        if self.repetitions <= 0 or time.monotonic() + wait > self.deadline:
            raise OutOfBudget
        self.repetitions -= 1


def push(session, item, budget):
    """Writes one item. The only place that repeats anything."""
    for attempt in range(1, ATTEMPTS + 1):
        response = session.put(f"{INDEX}/{item['id']}", json=item, timeout=10)
        if response.status_code < 300:
            return
        if response.status_code not in BUSY or attempt == ATTEMPTS:
            raise Rejected(f"item {item['id']}: status {response.status_code}")
        wait = max(server_wait(response), random.uniform(0.5, 1.0) * 2**attempt)
        budget.pay(wait)
        time.sleep(wait)


def sync(items, done):
    """Writes the items that are not in the ledger `done` yet; gives those that were refused."""
    budget = Budget()
    refused = []
    with requests.Session() as session:
        for item in items:
            if item["id"] in done:
                continue
            try:
                push(session, item, budget)
            except Rejected as error:
                log.error("%s", error)
                refused.append(item["id"])
            else:
                done.add(item["id"])
    return refused


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


def main(load_catalogue, load_ledger):
    refused = sync(load_catalogue(), load_ledger())
    if refused:
        sys.exit(f"{len(refused)} items were refused")
