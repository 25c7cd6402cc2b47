# fault: 503
import os
import time

import boto3

client = boto3.client("sqs", endpoint_url=os.environ["SERVER"], region_name="eu-west-1", aws_access_key_id="k", aws_secret_access_key="s")


def ask():
    for attempt in range(2):
        try:
            return client.list_queues()
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
