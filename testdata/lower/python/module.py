"""A script."""
import sys
import os.path as p
import urllib.request
from typing import Optional, Callable, TYPE_CHECKING
from dataclasses import dataclass, field

try:
    import simplejson as json
except ImportError:
    json = None

if TYPE_CHECKING:
    from aiohttp import ClientSession

LIMIT = 5
DELAY: float = LIMIT * 0.5
A, B = 1, 2
count = 0
mode = None


@dataclass
class Policy(Base):
    attempts: int = LIMIT
    session: "Optional[ClientSession]" = None
    hooks: list[str] = field(default_factory=list)
    on_error: Callable[[int], bool] | None = None
    STEP = 2
    TWICE = STEP * 2

    def __init__(self, url: str, timeout=LIMIT):
        super().__init__(url)
        Base.prepare(self, timeout)
        self.peer: Policy = self
        self.x, self.items[0] = url, self.STEP

    @staticmethod
    def build(kind) -> "Policy":
        return Policy(kind)

    @property
    def ready(self):
        return not self.session


def use():
    global mode
    mode = urllib.request.urlopen("u")
    del mode
    return json.loads(p.join("a", "b" f"{LIMIT!r:>{count}}"))


if __name__ == "__main__":
    while True:
        count += 1
        if count > LIMIT:
            sys.exit(1)
        use()
