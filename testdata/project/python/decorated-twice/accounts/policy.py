from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random

from requests import ConnectionError as Unreachable

passing = retry(
    retry=retry_if_exception_type(Unreachable),
    stop=stop_after_attempt(2),
    wait=wait_random(min=1, max=3),
    reraise=True,
)
