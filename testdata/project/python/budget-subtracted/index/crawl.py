import time

from .budget import Budget
from .pages import Unreachable, page


def crawl(url):
    budget = Budget(5)
    for turn in range(3):
        try:
            return page(url, budget)
        except Unreachable:
            if turn == 2 or budget.left == 0:
                raise
            time.sleep(5)
