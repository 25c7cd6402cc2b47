def work(jobs):
    try:
        with lock:
            for job in jobs:
                try:
                    run(job)
                except* ValueError as group:
                    return group
                else:
                    break
                finally:
                    clean(job)
    finally:
        close()


def generate(items):
    with (open(items) as a, open(a) as b):
        yield from b
    x = yield a
    a[x], a.b = x, (yield)
    try:
        pass
    except ValueError:
        unreachable()
    try:
        return x
    finally:
        x = 1
