import requests, time, sys, os
from requests import adapters as ad, Session
from . import util
from ..core.net import fetch as grab
from typing import overload
from tenacity import *

session = requests.Session()
for i in range(3):
    resp = session.get("u")
    if resp.ok:
        break
    time.sleep(2**i)


class Client(util.Base, Session):
    URL: str = "x"
    retry = ad.Retry(total=3)
    default = lambda self: self.URL

    @overload
    def get(self, a): ...
    def get(self, a, timeout=URL):
        def inner(n):
            nonlocal a
            a = n
            return self.get(n)

        return inner(a)

    @property
    def x(self):
        return 1

    @x.setter
    def x(self, v):
        self._x = v

    @classmethod
    def make(cls, **kw):
        return cls(**kw)


@retry(stop=stop_after_attempt(3))
def f(x):
    x or sys.exit(2)
    try:
        os._exit(1)
    finally:
        clean()


f = wrap(f)


def g():
    global state
    state = {}
    state["a"] += 1
    import json as j, a.b.c
    j.dumps(a.b.c.d)
    del state["a"], session.x
    for k, (v, *w) in grab():
        print(k, v, w)
    for session.item, state["b"] in grab():
        pass
    with grab() as (left, session.right):
        pass
    first = second = grab()
    return [i for i in range(3)][1:2], -1, "a\x41" 'b', b"x", f"{i!r}" "z", [*first], {**second}


print(n := 3, [last := k for k in (n,)])
