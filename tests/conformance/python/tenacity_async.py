# fault: 503
import asyncio
import os

import httpx
from tenacity import retry, retry_if_exception_type, stop_after_attempt, wait_random_exponential


@retry(stop=stop_after_attempt(3), wait=wait_random_exponential(max=4), retry=retry_if_exception_type(httpx.HTTPStatusError))
async def fetch(client):
    response = await client.get(os.environ["SERVER"])
    response.raise_for_status()
    return response


async def main():
    async with httpx.AsyncClient() as client:
        await fetch(client)


asyncio.run(main())
