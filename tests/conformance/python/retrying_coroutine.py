# fault: drop
import asyncio
import os

import httpx
from retrying import retry


@retry(stop_max_attempt_number=4, wait_fixed=1000)
async def fetch(client):
    return await client.get(os.environ["SERVER"])


async def main():
    async with httpx.AsyncClient() as client:
        await fetch(client)


asyncio.run(main())
