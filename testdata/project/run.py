"""Runs projects of this folder against a server on loopback that never answers, and counts what it is asked.

    python3 testdata/project/run.py [NAME...]

Needs what the projects import (`pip install requests httpx tenacity openai celery aiohttp`); a project whose libraries
are missing is skipped by name, and that is no success unless --skip allows it. Waits are patched to nothing, and every host
is the server. What is counted must be the product that `expected.txt` names for the project, or the attempts of the one
loop where nothing multiplies.
"""

import argparse
import asyncio
import importlib
import importlib.util
import os
import socket
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent / "python"
INCIDENTS = ROOT.parent.parent / "incidents" / "python"
BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Server:
    """Accepts connections, counts the requests on them, and hangs up, or says that it is busy."""

    def __init__(self):
        self.count = 0
        self.answer = b""
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            connection, _ = self.socket.accept()
            connection.settimeout(5)
            try:
                if connection.recv(65536):
                    self.count += 1
                    connection.sendall(self.answer)
            except OSError:
                pass
            connection.close()


def to_server(port):
    """Sends what is for any host to the server, without TLS, and makes waits end at once."""
    time.sleep = lambda _: None
    at_once = asyncio.sleep
    asyncio.sleep = lambda *_: at_once(0)
    local = f"http://127.0.0.1:{port}"
    import requests

    send = requests.Session.send

    def locally(self, request, **settings):
        request.url = local + "/"
        adapter = self.get_adapter("https://any")
        self.get_adapter = lambda url: adapter
        try:
            return send(self, request, **settings)
        finally:
            del self.get_adapter

    requests.Session.send = locally
    for name in ("httpx", "httpx2"):
        if importlib.util.find_spec(name):
            divert(importlib.import_module(name), local)
    if importlib.util.find_spec("aiohttp"):
        import aiohttp

        ask = aiohttp.ClientSession._request

        def locally_too(self, method, _, **settings):
            # A server that hangs up stands for one that cannot be reached: aiohttp asks the former once more by itself.
            self._retry_connection = False
            return ask(self, method, local, **settings)

        aiohttp.ClientSession._request = locally_too


def divert(httpx, local):
    """The same for a client of httpx, or of what goes on from it."""
    handle = httpx.HTTPTransport.handle_request

    def handled(self, request):
        request.url = httpx.URL(local)
        try:
            return handle(self, request)
        except httpx.RemoteProtocolError as error:
            # A server that hangs up at once stands for one that cannot be reached.
            raise httpx.ConnectError(str(error)) from error

    httpx.HTTPTransport.handle_request = handled


class Feed:
    url = "https://feeds.example.com"


# For each project: how one call is made, the libraries that it needs, and the requests that it becomes.
def weather():
    return importlib.import_module("harvest").Weather().today("Bergen")


def budgeted():
    return importlib.import_module("index.crawl").crawl("https://index.example.com")


def queued():
    # Without a broker a task is run again in place.
    return importlib.import_module("work.tasks").archive.apply(args=(7,))


def summary():
    return importlib.import_module("catalogue.summaries").summary_of("text")


def state():
    import aiohttp

    async def ask():
        async with aiohttp.ClientSession() as session:
            client = importlib.import_module("flow.client").Client(session)
            return await importlib.import_module("flow.service").Service(client).state()

    return asyncio.run(ask())


def synced():
    return importlib.import_module("batch_sync").sync([{"id": 7}])


CALLS = {
    "batch_sync": (synced, ["requests"], 8),
    "async-three": (state, ["aiohttp"], 12),
    "twelve-by-three": (lambda: importlib.import_module("nightly").refresh(Feed()), ["requests"], 36),
    "three-files": (lambda: importlib.import_module("shop.report").line("7"), ["httpx"], 45),
    "base-class": (weather, ["requests"], 12),
    "callables": (lambda: importlib.import_module("lib.music").album(7), ["requests"], 6),
    "monorepo": (lambda: importlib.import_module("tides.table").table("Oslo"), ["requests"], 6),
    "queue-loop-adapter": (queued, ["requests", "celery"], 36),
    "sdk-default": (summary, ["openai"], 12),
    "sdk-off": (summary, ["openai"], 4),
    "error-not-caught": (lambda: importlib.import_module("pay.quote").quote("NOK", 2), ["requests"], 3),
    "budget-subtracted": (budgeted, ["requests"], 5),
    "helper-sleeps": (lambda: importlib.import_module("mailer.addresses").is_known("a@b"), ["requests"], 5),
    "decorated-twice": (
        lambda: importlib.import_module("accounts.tokens").Tokens().token_of("ann"),
        ["requests", "tenacity"],
        4,
    ),
}


def folders_of(name):
    """Where a project's modules are imported from."""
    if name == "batch_sync":
        return [INCIDENTS]
    return [ROOT / name, *(ROOT / name).glob("*/*/src")]


def main(arguments):
    parser = argparse.ArgumentParser(description="Runs projects against a server that counts what it is asked.")
    parser.add_argument("--skip", action="store_true", help="a project whose libraries are missing is no fault")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"all of them, or some of: {', '.join(CALLS)}")
    asked = parser.parse_args(arguments)
    unknown = [name for name in asked.names if name not in CALLS]
    if unknown:
        parser.error(f"no such project: {', '.join(unknown)}")
    sys.dont_write_bytecode = True
    os.environ["OPENAI_API_KEY"] = "none"
    server = Server()
    to_server(server.port)
    right = wrong = skipped = 0
    for name in asked.names or CALLS:
        call, libraries, expected = CALLS[name]
        missing = [library for library in libraries if importlib.util.find_spec(library) is None]
        if missing:
            print(f"{name}: skipped, needs {', '.join(missing)}")
            skipped += 1
            continue
        # What counts on an answer is told that the server is busy.
        server.answer = BUSY if name == "batch_sync" else b""
        folders = folders_of(name)
        sys.path[:0] = [str(folder) for folder in folders]
        before = server.count
        try:
            call()
            outcome = "ended well"
        except Exception as error:
            outcome = type(error).__name__
        del sys.path[: len(folders)]
        # Projects have modules of the same names.
        own = [str(folder) for folder in folders]
        for module in [
            module for module, it in sys.modules.items() if str(getattr(it, "__file__", None)).startswith(tuple(own))
        ]:
            del sys.modules[module]
        made = server.count - before
        right += made == expected
        wrong += made != expected
        print(f"{name}: {made} requests ({outcome}){'' if made == expected else f', expected {expected}'}")
    print(f"{right} of {right + wrong} as expected, {skipped} skipped")
    return 1 if wrong or skipped and not asked.skip else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
