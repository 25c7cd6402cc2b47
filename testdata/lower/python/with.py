import contextlib


async def read(path):
    while True:
        with contextlib.suppress(OSError), open(path) as handle:
            return handle.read()
        async with session.get(path) as response:
            if response.ok:
                break
