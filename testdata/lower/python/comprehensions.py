async def gather(rows, x):
    pairs = {k: v async for k, v in rows if v}
    names = [f(x, y) for x in rows for y in x if y]
    calls = [lambda: x for x in rows]
    return any(r.ok for r in names), x
