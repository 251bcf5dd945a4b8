"""Requests that end in every way there is: at rest nothing is in flight, and the books agree to the unit."""

import http.client
import json
import os
import random
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

# 10 000 by hand: TOLLGATE_STORM=10000.
REQUESTS = int(os.environ.get("TOLLGATE_STORM", "2000"))
CALLERS = 24
# How an answer ends; each is what the simulated upstream is told.
ENDINGS = (
    "out=20",
    "out=20 usage=none",
    "out=20 usage=null",
    "out=20 usage=zero",
    "out=20 usage=lie:+5",
    "out=20 chunks=10 fault=reset:0",
    "out=20 chunks=10 fault=reset:3",
    "out=20 chunks=10 fault=close:3",
    "out=20 chunks=10 fault=error:3",
    "out=20 chunks=10 fault=stall:3",
    "fault=status:400",
    "fault=status:401",
    "fault=status:429",
    "fault=status:500",
    "fault=status:503",
    "fault=error200",
    "fault=html",
    "fault=garbage",
    "fault=empty",
    "fault=nochoices",
    "fault=gzip",
    "fault=short",
    "out=200 delay_ms=20 chunks=50",
)


def send(gateway, key, model, script, stream, leave_after):
    """Sends one chat; leaves after so many lines of the answer, or 0.3 s without one. Returns the request id, if one came."""
    url = urllib.parse.urlsplit(gateway)
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=30)
    body = {"model": model, "stream": stream, "messages": [{"role": "user", "content": f"hello [[sim {script}]]"}]}
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        if leave_after == 0:
            return None
        if "stall" in script:
            connection.sock.settimeout(0.3)
        reply = connection.getresponse()
        for _ in range(leave_after or 1_000_000):
            if not reply.readline():
                break
        return reply.headers["x-request-id"] if reply.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def test_whatever_ends_a_request_nothing_stays_in_flight_and_the_books_agree(system):
    caller, seed = system.new_caller("100.00"), random.randrange(1 << 32)
    print(f"seed {seed}")
    chance = random.Random(seed)
    begun = time.monotonic()
    with ThreadPoolExecutor(CALLERS) as pool:
        sent = [
            pool.submit(
                send,
                chance.choice(system.gateways),
                caller.key,
                system.model,
                chance.choice(ENDINGS),
                chance.random() < 0.7,
                chance.choice((None, None, None, 0, 1, 7)),
            )
            for _ in range(REQUESTS)
        ]
        ids = [future.result() for future in sent]
    print(f"{REQUESTS} requests in {time.monotonic() - begun:.1f} s, {sum(map(bool, ids))} answered")
    numbers = system.at_rest(caller, within=30)
    levels = system.caller_numbers(caller)
    assert {level: of["frozen"] for level, of in levels.items()} == {"key": 0, "project": 0, "tenant": 0}
    charged, outcomes, cursor = Decimal(0), {}, ""
    while cursor is not None:
        page = system.get(f"/requests?tenant_id={caller.tenant_id}&limit=200" + (f"&cursor={cursor}" if cursor else ""))
        for request in page["items"]:
            assert request["request_id"] not in outcomes, "one outcome for each request"
            outcomes[request["request_id"]] = request["outcome"]
            charged += Decimal(request["charge"])
        cursor = page["next_cursor"]
    assert numbers["used"] == charged
    assert {level: of["used"] for level, of in levels.items()} == dict.fromkeys(("key", "project", "tenant"), charged)
    assert all(request_id in outcomes for request_id in ids if request_id), "every answered request has its outcome"
    assert set(outcomes.values()) <= {"final", "rolled_back"}, set(outcomes.values())
    assert len(outcomes) > REQUESTS / 2
