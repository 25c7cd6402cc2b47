# fault: 503
import os

import boto3
from botocore.config import Config


def queues():
    patience = Config(retries={"max_attempts": 4, "mode": "standard"})
    client = boto3.client(
        "sqs",
        endpoint_url=os.environ["SERVER"],
        region_name="eu-west-1",
        aws_access_key_id="k",
        aws_secret_access_key="s",
        config=patience,
    )
    return client.list_queues()


queues()
