# fault: 503
import asyncio
import os

from aiohttp_retry import ExponentialRetry, RetryClient


async def fetch():
    async with RetryClient(retry_options=ExponentialRetry(attempts=5)) as client:
        async with client.get(os.environ["SERVER"]) as response:
            return response.status


asyncio.run(fetch())
