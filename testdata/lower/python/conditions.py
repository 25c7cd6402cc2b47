def decide(a, b, c):
    value = a or b and c
    if not (a and (b or c)):
        value = 1 if 0 < a < 10 else 2
    if (match := find(a)) is not None and a <= b < c:
        return match
    assert value, "none"
    return value
