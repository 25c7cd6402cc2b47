# fault: 503
import os

from azure.core import PipelineClient
from azure.core.pipeline.policies import RetryPolicy
from azure.core.rest import HttpRequest


def fetch():
    client = PipelineClient(os.environ["SERVER"], policies=[RetryPolicy()])
    return client.send_request(HttpRequest("GET", os.environ["SERVER"]))


fetch()
