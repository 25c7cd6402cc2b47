# fault: drop
import os
import time

import stripe

stripe.api_base = os.environ["SERVER"]


def ask():
    for attempt in range(2):
        try:
            return stripe.Charge.retrieve("ch_1", api_key="sk_test_k")
        except stripe.APIConnectionError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
