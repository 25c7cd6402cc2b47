import time


def poll(check, limit):
    attempt = 0
    while attempt < limit and not stopped():
        if check():
            break
        attempt += 1
    else:
        raise TimeoutError("late")
    for delay in (1, 2):
        time.sleep(delay)
    else:
        reset()
    while True:
        try:
            return check()
        except (OSError, ValueError):
            continue
        except Exception:
            if attempt > 3:
                raise
