# fault: drop
import os
import time

from kubernetes import client as kube

client = kube.CoreV1Api(kube.ApiClient(kube.Configuration(host=os.environ["SERVER"])))


def ask():
    for attempt in range(2):
        try:
            return client.list_node(_request_timeout=5)
        except Exception:
            if attempt == 1:
                raise
            time.sleep(2**attempt)


ask()
