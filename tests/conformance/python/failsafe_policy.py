# fault: drop
import asyncio
import os

import httpx
from failsafe import Failsafe, RetryPolicy


async def load():
    async def ask():
        async with httpx.AsyncClient() as client:
            return await client.get(os.environ["SERVER"])

    return await Failsafe(retry_policy=RetryPolicy(allowed_retries=4)).run(ask)


asyncio.run(load())
