"""A gateway that dies in the middle of its work."""

import http.client
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
from decimal import Decimal

import pytest

from system import System, charge

STREAMS = 50
# A lease and five seconds.
HEALED_WITHIN_S = 35


@pytest.fixture
def own_system():
    """A system of its own with two gateways, since one of them will not survive."""
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR") or pathlib.Path(__file__).parents[2] / "target")
    program = target / "debug" / "xtask"
    assert program.exists(), f"{program} is missing: ./dev up builds it"
    with tempfile.TemporaryDirectory(prefix="tollgate-crash-", ignore_cleanup_errors=True) as folder:
        # The database may run as another user, who has to get to its data.
        os.chmod(folder, 0o755)
        command = [program, "up", "--hold", "--throwaway", "--no-build", "--gateways", "2", "--dir", folder]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert any("curl " in line for line in process.stdout), "the system did not become ready"
            yield System(json.loads((pathlib.Path(folder) / "credentials.json").read_text()))
        finally:
            process.stdin.close()
            process.stdout.close()
            process.wait(60)


class Stream(threading.Thread):
    """A streamed chat whose request id and number of pieces are known while it runs."""

    def __init__(self, gateway, caller, model, script):
        super().__init__(daemon=True)
        self.gateway, self.caller, self.script, self.model = gateway, caller, script, model
        self.request_id, self.pieces, self.ended_well, self.usage = None, 0, False, None

    def run(self):
        url = urllib.parse.urlsplit(self.gateway)
        connection = http.client.HTTPConnection(url.hostname, url.port, timeout=120)
        body = {
            "model": self.model,
            "stream": True,
            "stream_options": {"include_usage": True},
            "messages": [{"role": "user", "content": f"hello {self.script}"}],
        }
        headers = {"Authorization": f"Bearer {self.caller.key}", "Content-Type": "application/json"}
        try:
            connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
            reply = connection.getresponse()
            self.request_id = reply.headers["x-request-id"]
            while line := reply.readline():
                if line.startswith(b"data: {"):
                    self.usage = json.loads(line[6:]).get("usage") or self.usage
                    self.pieces += 1
                self.ended_well |= line.startswith(b"data: [DONE]")
        except (OSError, http.client.HTTPException):
            pass
        finally:
            connection.close()


def wait_until(what, within, holds):
    end = time.monotonic() + within
    while not holds():
        assert time.monotonic() < end, f"not within {within} s: {what}"
        time.sleep(0.1)


def test_a_killed_gateway_leaves_nothing_frozen_and_no_request_without_an_outcome(own_system):
    system = own_system
    caller, price = system.new_caller("500.00"), system.price(system.model)
    doomed = [
        Stream(system.gateways[1], caller, system.model, "[[sim out=900 delay_ms=300 chunks=300]]")
        for _ in range(STREAMS)
    ]
    # One on the other gateway, which outlives the crash.
    other = Stream(system.gateways[0], caller, system.model, "[[sim out=60 delay_ms=300 chunks=60]]")
    for stream in [*doomed, other]:
        stream.start()
    wait_until("all streams answer", 30, lambda: all(stream.pieces > 1 for stream in [*doomed, other]))
    # The last of them has been beaten with a checkpoint.
    time.sleep(3)
    assert system.operator_numbers(caller)["frozen"] > 0
    os.kill(system.pids["gateways"][1], signal.SIGKILL)
    killed = time.monotonic()
    other.join(60)
    assert other.ended_well, "a stream of the other gateway goes on"
    wait_until(
        f"nothing is frozen ({system.operator_numbers(caller)})",
        HEALED_WITHIN_S - (time.monotonic() - killed),
        lambda: system.operator_numbers(caller)["frozen"] == 0,
    )
    print(f"healed {time.monotonic() - killed:.1f} s after the kill")
    total = charge(price, other.usage)
    for stream in doomed:
        assert not stream.ended_well
        request = system.get(f"/requests/{stream.request_id}")
        assert request["outcome"] == "expired", request
        # What was relayed up to the last checkpoint, and the prompt.
        assert Decimal(request["charge"]) > 0, request
        total += Decimal(request["charge"])
    assert system.at_rest(caller, used=total)["frozen"] == 0
