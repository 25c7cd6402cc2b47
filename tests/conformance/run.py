"""Counts the attempts that libraries make, and holds the counts against what stormlint computes from the same scripts.

    cargo build && python3 tests/conformance/run.py [python|older|rust]... [--only WORD] [--stormlint PATH]

Each script in python/, older/ and rust/src/bin/ asks a server on the loopback that fails in the way its first line says:
a status, or `drop`, the connection closed without an answer. Each folder of scripts tells the versions that it is about:
in its requirements.txt, which is installed into an environment of its own, or in its Cargo.toml. Waits are not waited
for: sleeping is replaced by returning at once (Rust: the clock of tokio is paused).
"""

import argparse
import json
import os
import pathlib
import socketserver
import subprocess
import sys
import tempfile
import threading
import venv

HERE = pathlib.Path(__file__).parent
BUILT = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", HERE / "rust" / "target"))
LIMIT = 120  # seconds for one script
ENOUGH = 400  # attempts

# Run before a Python script: nobody waits.
AT_ONCE = """
import asyncio, runpy, sys, time
later = asyncio.sleep
time.sleep = lambda *_: None
asyncio.sleep = lambda _=0, result=None: later(0, result)
runpy.run_path(sys.argv[1], run_name="__main__")
"""


class Faulty(socketserver.ThreadingTCPServer):
    """Fails each request, and counts them."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, fault):
        super().__init__(("127.0.0.1", 0), Connection)
        self.fault = fault
        self.count = 0
        self.lock = threading.Lock()

    def failed(self):
        with self.lock:
            self.count += 1
            return self.count

    def handle_error(self, request, client_address):
        pass


class Connection(socketserver.StreamRequestHandler):
    timeout = 10

    def handle(self):
        first = self.rfile.peek(1)[:1]
        if first == b"*":
            return self.redis()
        while True:
            head = [self.rfile.readline()]
            if not head[0].strip():
                return None
            while head[-1].strip():
                head.append(self.rfile.readline())
            length = [line.split(b":")[1] for line in head if line.lower().startswith(b"content-length:")]
            if length:
                self.rfile.read(int(length[0]))
            if any(line.lower().startswith(b"transfer-encoding: chunked") for line in head):
                while self.rfile.readline().strip() not in (b"0", b""):
                    pass
                self.rfile.readline()
            if self.server.failed() > ENOUGH or self.server.fault == "drop":
                return None
            body = b"{}"
            self.wfile.write(
                b"HTTP/1.1 %s Failed\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
                % (self.server.fault.encode(), len(body), body)
            )

    def redis(self):
        """Takes what a client says on connecting, and closes on a command."""
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                words.append(self.rfile.read(int(self.rfile.readline()[1:]) + 2).strip().upper())
            if words[0] not in (b"HELLO", b"CLIENT", b"AUTH", b"SELECT", b"PING"):
                self.server.failed()
                return
            self.wfile.write(b"+OK\r\n")


def counted(command, fault):
    """How many requests a command makes that fail so, and what it printed last."""
    with Faulty(fault) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        env = {
            **os.environ,
            "PORT": str(port),
            "SERVER": f"http://127.0.0.1:{port}",
            "REDIS": f"redis://127.0.0.1:{port}",
            "NO_PROXY": "*",
        }
        try:
            ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=LIMIT, check=False)
            said = (ran.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired:
            said = f"not done in {LIMIT} s"
        server.shutdown()
        return server.count, said


def computed(stormlint, script):
    """The attempts that stormlint tells of the sites in a script: those of the one with the most; one where nothing repeats."""
    ran = subprocess.run(
        [stormlint, "inventory", "--isolated", "--output-format", "json", script.name],
        cwd=script.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    sites = json.loads(ran.stdout)["sites"]
    known = [site["amplification"] or site["max_attempts"] for site in sites]
    return max((number for number in known if number), default=1)


def python_of(folder):
    """The interpreter of an environment with what a folder's requirements ask for."""
    home = pathlib.Path(os.environ.get("CONFORMANCE_HOME", pathlib.Path(tempfile.gettempdir()) / "stormlint-conformance"))
    place = home / folder.name
    python = place / "bin" / "python"
    wanted = (folder / "requirements.txt").read_text()
    done = place / "installed.txt"
    if not done.exists() or done.read_text() != wanted:
        venv.create(place, with_pip=True, clear=not python.exists())
        subprocess.run([python, "-m", "pip", "install", "-q", "-r", folder / "requirements.txt"], check=True)
        done.write_text(wanted)
    return python


def scripts(kind, only):
    folder = HERE / kind
    found = sorted((folder / "src" / "bin").glob("*.rs") if kind == "rust" else folder.glob("*.py"))
    return [script for script in found if only in script.stem]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", default=["python", "older", "rust"])
    parser.add_argument("--only", default="")
    parser.add_argument("--stormlint", default=HERE.parents[1] / "target" / "debug" / "stormlint")
    args = parser.parse_args()
    stormlint = pathlib.Path(args.stormlint).resolve()
    wrong = ran = 0
    for kind in args.kinds:
        found = scripts(kind, args.only)
        if not found:
            continue
        if kind == "rust":
            subprocess.run(["cargo", "build", "-q", "--manifest-path", HERE / "rust" / "Cargo.toml"], check=True)
        for script in found:
            fault = script.read_text().splitlines()[0].split("fault:")[1].strip()
            if kind == "rust":
                command = [BUILT / "debug" / script.stem]
            else:
                command = [python_of(HERE / kind), "-c", AT_ONCE, script]
            made, said = counted(command, fault)
            told = computed(stormlint, script)
            ran += 1
            same = made == told
            wrong += not same
            print(f"{'ok   ' if same else 'WRONG'} {kind}/{script.stem}: {made} made, {told} computed", flush=True)
            if not same:
                print(f"      {said}")
    print(f"{ran - wrong} of {ran} counts are the same")
    return 1 if wrong or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
