import asyncio

import aiohttp

from .client import Client


class Service:
    def __init__(self, client: Client):
        self.client = client

    async def state(self):
        attempt = 0
        while attempt < 4:
            try:
                return await self.client.read("/state")
            except aiohttp.ClientError:
                attempt += 1
                if attempt == 4:
                    raise
                await asyncio.sleep(3 * attempt)
