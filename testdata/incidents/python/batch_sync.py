"""Brings the catalogue of a shop, some 9,000 items, into a partner's search index every night."""

import logging
import sys

import requests

log = logging.getLogger(__name__)

INDEX = "https://search.example.com/v2/items"
BATCH_SIZE = 50
PASSES = 4
TRIES = 2
BUSY = (429, 500, 502, 503, 504)


class Rejected(Exception):
    """The index does not want this item."""


def push(session, item):
    """Writes one item; False where the index was too busy for it."""
    for _ in range(TRIES):
        response = session.put(f"{INDEX}/{item['id']}", json=item, timeout=10)
        if response.status_code < 300:
            return True
        if response.status_code not in BUSY:
            raise Rejected(f"item {item['id']}: status {response.status_code}")
    return False


def push_batch(session, batch):
    """Writes a batch; True if every item of it arrived."""
    missed = 0
    for item in batch:
        if not push(session, item):
            missed += 1
    return missed == 0


def sync(items):
    """Writes all items; gives the number of batches that did not arrive as a whole."""
    incomplete = 0
    with requests.Session() as session:
        for start in range(0, len(items), BATCH_SIZE):
            batch = items[start : start + BATCH_SIZE]
            for _ in range(PASSES):
                if push_batch(session, batch):
                    break
            else:
                log.error("items from %d on are incomplete", start)
                incomplete += 1
    return incomplete


def main(load_catalogue):
    incomplete = sync(load_catalogue())
    if incomplete:
        sys.exit(f"{incomplete} batches are incomplete")
