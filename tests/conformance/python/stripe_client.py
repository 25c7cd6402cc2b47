# fault: drop
import os
import time

import stripe

client = stripe.StripeClient("sk_test_k", base_addresses={"api": os.environ["SERVER"]})


def ask():
    for attempt in range(2):
        try:
            return client.v1.charges.retrieve("ch_1")
        except stripe.APIConnectionError:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
