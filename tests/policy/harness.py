"""Runs programs against a server that is no server, and writes what they did, attempt by attempt."""
import json
import random
import sys
import time
import types

MOST = 40
LATENCY = 0.05


class Enough(BaseException):
    """So many attempts are taken for no end."""


class Server:
    def begin(self, scenario, chance):
        self.scenario, self.chance, self.events, self.now, self.asked = scenario, chance, [], 1000.0, 0
        self.drawn = False

    def draw(self):
        self.drawn = True
        return self.chance

    def answer(self, method, options):
        if self.asked >= MOST:
            raise Enough()
        now = self.scenario["fails"][min(self.asked, len(self.scenario["fails"]) - 1)]
        self.asked += 1
        self.events.append(["request", method, options.get("timeout")])
        self.now += LATENCY
        if isinstance(now, str):
            raise getattr(requests.exceptions, now)(now)
        return Response(now, self.scenario.get("advice"))

    def sleep(self, seconds):
        self.events.append(["wait", seconds])
        self.now += seconds


SERVER = Server()


class Headers(dict):
    def get(self, name, default=None):
        return dict.get(self, name.lower(), default)


class Response:
    def __init__(self, status, advice):
        self.status_code, self.headers = status, Headers()
        if advice == "date":
            from datetime import datetime, timedelta, timezone
            from email.utils import format_datetime
            advice = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=300), usegmt=False)
        if advice is not None:
            self.headers["retry-after"] = advice

    ok = property(lambda self: self.status_code < 400)
    text = "text"

    def __bool__(self):
        return self.ok

    def json(self):
        return {"data": 1}

    def raise_for_status(self):
        if not self.ok:
            raise requests.exceptions.HTTPError("status", self)


def fake_requests():
    module, exceptions = types.ModuleType("requests"), types.ModuleType("requests.exceptions")

    class RequestException(IOError):
        def __init__(self, text="", response=None):
            super().__init__(text)
            self.response = response

    known = {"RequestException": RequestException}
    for name, bases in [
        ("HTTPError", ["RequestException"]),
        ("ConnectionError", ["RequestException"]),
        ("Timeout", ["RequestException"]),
        ("ConnectTimeout", ["ConnectionError", "Timeout"]),
        ("ReadTimeout", ["Timeout"]),
        ("ChunkedEncodingError", ["RequestException"]),
    ]:
        known[name] = type(name, tuple(known[base] for base in bases), {})
    for name, value in known.items():
        setattr(exceptions, name, value)
        setattr(module, name, value)
    module.exceptions = exceptions
    for method in ("get", "post", "put"):
        def send(url, _method=method.upper(), **options):
            return SERVER.answer(_method, options)
        setattr(module, method, send)
    return module


requests = fake_requests()
sys.modules.update({"requests": requests, "requests.exceptions": requests.exceptions})
time.sleep = SERVER.sleep
time.monotonic = time.time = time.perf_counter = lambda: SERVER.now
random.uniform = lambda low, high: low + (high - low) * SERVER.draw()
random.random = SERVER.draw


def outcome_of(run):
    try:
        value = run()
    except Enough:
        return "endless"
    except Exception as error:
        return "raises " + type(error).__name__
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return "data" if value else "empty"


def main():
    results = []
    for work in json.load(sys.stdin):
        space = {"__name__": "program"}
        exec(compile(work["source"], "program.py", "exec"), space)
        traces = {}
        for at, scenario in enumerate(work["scenarios"]):
            for chance in (0.0, 1.0):
                SERVER.begin(scenario, chance)
                outcome = outcome_of(lambda: space["fetch"]("http://server/item"))
                trace = json.dumps([SERVER.events, outcome])
                traces.setdefault(trace, []).append([at, chance])
                if not SERVER.drawn:
                    traces[trace].append([at, 1.0])
                    break
        results.append([[json.loads(trace), runs] for trace, runs in traces.items()])
    json.dump(results, sys.stdout)


main()
