import asyncio

import aiohttp


class Client:
    def __init__(self, session: aiohttp.ClientSession):
        self._session = session

    async def read(self, path):
        for attempt in range(3):
            try:
                async with self._session.get(path, timeout=aiohttp.ClientTimeout(total=5)) as response:
                    return await response.text()
            except aiohttp.ClientConnectionError:
                if attempt == 2:
                    raise
                await asyncio.sleep(1 + attempt)
