"""The running system under test: where it is, its admin API, its numbers."""

import json
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal

# The smallest part of a credit.
UNIT = Decimal("0.00000001")
# The four numbers of an account.
NUMBERS = ("total", "used", "frozen", "remaining")


def call(method, url, token=None, body=None, headers=()):
    """Sends JSON and returns status, headers and JSON of the reply, whatever the status."""
    request = urllib.request.Request(url, method=method, headers=dict(headers))
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    data = None
    if body is not None:
        data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, data, timeout=30) as reply:
            return reply.status, reply.headers, json.loads(reply.read() or b"null")
    except urllib.error.HTTPError as error:
        text = error.read().decode(errors="replace")
        try:
            return error.code, error.headers, json.loads(text)
        except ValueError:
            raise AssertionError(f"{method} {url} answered {error.code} without JSON: {text}") from None


@dataclass
class Caller:
    """A key and the tenant it belongs to."""

    tenant_id: str
    key: str


class System:
    """What `.dev/credentials.json` tells."""

    def __init__(self, credentials):
        self.gateway = credentials["gateway_url"]
        self.gateways = credentials.get("gateway_urls") or [self.gateway]
        self.admin = credentials["admin_url"]
        self.upstream = credentials["upstream_url"]
        self.mail = credentials["mail_url"]
        self.redis = credentials["redis_url"]
        self.service_token = credentials["service_token"]
        self.pids = credentials["pids"]
        self.metrics = credentials["metrics_urls"]
        self.model = credentials["model"]
        self.demo = Caller(credentials["tenant_id"], credentials["api_key"])

    # The admin API.

    def get(self, path):
        status, _, body = call("GET", f"{self.admin}/api/v1{path}", self.service_token)
        assert status == 200, f"GET {path}: {status} {body}"
        return body

    def post(self, path, body):
        headers = {"Idempotency-Key": str(uuid.uuid4())}
        status, _, reply = call("POST", f"{self.admin}/api/v1{path}", self.service_token, body, headers)
        assert status in (200, 201), f"POST {path}: {status} {reply}"
        return reply

    def set_member(self, pool, caller, weight):
        """Brings the caller's tenant into a pool."""
        path = f"/api/v1/pools/{pool}/members/{caller.tenant_id}"
        status, _, reply = call("PUT", f"{self.admin}{path}", self.service_token, {"weight": weight})
        assert status == 200, reply
        return reply

    def remove_member(self, pool, caller):
        """Takes the caller's tenant out of its pool."""
        path = f"/api/v1/pools/{pool}/members/{caller.tenant_id}"
        status, _, reply = call("DELETE", f"{self.admin}{path}", self.service_token)
        assert status == 204, reply

    def new_caller(self, plan):
        """A tenant with a plan of so many credits, a project and a key."""
        tenant = self.post(
            "/tenants",
            {
                "name": f"SDK test {uuid.uuid4()}",
                "unit": "credit",
                "time_zone": "UTC",
                "period": {"kind": "month"},
                "plan": {"amount": plan},
            },
        )
        project = self.post(f"/tenants/{tenant['id']}/projects", {"name": "sdk"})
        key = self.post(f"/projects/{project['id']}/keys", {"name": "sdk"})
        return Caller(tenant["id"], key["secret"])

    def new_model(self, purpose, dialects, prices):
        """A chat model of its own on the simulated upstream that serves the demo; returns its name."""
        upstream = self.get("/upstreams?limit=200")["items"][0]["id"]
        name = f"sdk-{purpose}-{uuid.uuid4()}"
        model = self.post(
            "/models",
            {
                "name": name,
                "mode": "chat",
                "tokenizer": "o200k_base",
                "context_window": 128_000,
                "max_output_tokens": 16_384,
                "freeze_output_tokens": 1_000,
                "hidden_reasoning": False,
                "safety_factor": "1.05",
            },
        )
        self.post(f"/models/{model['id']}/prices", prices | {"valid_from": "2025-01-01T00:00:00Z"})
        target = {"upstream_id": upstream, "upstream_model": "sim-large", "dialects": dialects}
        self.post(f"/models/{model['id']}/targets", target | {"priority": 0, "weight": 1, "enabled": True})
        return name

    def price(self, model):
        """The price in force of a model: credits per 1 000 000 tokens, by kind."""
        found = [item for item in self.get("/models?limit=200")["items"] if item["name"] == model]
        assert len(found) == 1, f"the model {model} is not there once: {found}"
        price = found[0]["price_in_force"]
        return {kind: Decimal(value) for kind, value in price.items() if is_amount(kind, value)}

    def fixed_price_model(self):
        """A model that is priced by request alone, and that price."""
        for item in self.get("/models?limit=200")["items"]:
            price = self.price(item["name"])
            if price.get("per_request") and not any(price.get(kind) for kind in ("input", "output")):
                return item["name"], price["per_request"]
        raise AssertionError("no model is priced by request alone")

    # The numbers.

    def caller_numbers(self, caller):
        """What the caller is told by the gateway, by level."""
        status, _, body = call("GET", f"{self.gateway}/v1/quota", caller.key)
        assert status == 200, body
        return {level["level"]: numbers(level) for level in body["levels"]}

    def operator_numbers(self, caller):
        """What the operator is told of the tenant."""
        return numbers(self.get(f"/tenants/{caller.tenant_id}/quota"))

    def at_rest(self, caller, used=None, within=15):
        """The tenant's numbers once nothing is in flight, both views agree and, where given, `used` is reached."""
        end = time.monotonic() + within
        while True:
            told = self.caller_numbers(caller)["tenant"]
            shown = self.operator_numbers(caller)
            settled = told == shown and told["frozen"] == 0 and (used is None or told["used"] == used)
            if settled:
                return told
            if time.monotonic() > end:
                expected = "" if used is None else f", used {used} was expected"
                raise AssertionError(f"not at rest: the caller is told {told}, the operator {shown}{expected}")
            time.sleep(0.1)

    # The simulated upstream's books.

    def served(self, after=0):
        """Lines of its ledger."""
        _, _, lines = call("GET", f"{self.upstream}/sim/ledger?after={after}")
        return lines

    def hold(self):
        """Stops all answers before their first byte."""
        call("POST", f"{self.upstream}/sim/hold")

    def release(self):
        call("POST", f"{self.upstream}/sim/release")

    def held(self):
        return call("GET", f"{self.upstream}/sim/active")[2]["held"]

    # Redis.

    def redis_command(self, *words):
        """Sends one command and returns the first line of the reply."""
        url = urllib.parse.urlsplit(self.redis)
        with socket.create_connection((url.hostname, url.port or 6379), timeout=10) as connection:
            with connection.makefile("rwb") as wire:
                commands = [words]
                if url.password:
                    commands.insert(0, ("AUTH", *filter(None, (url.username, url.password))))
                for command in commands:
                    wire.write(b"*%d\r\n" % len(command))
                    for word in command:
                        wire.write(b"$%d\r\n%s\r\n" % (len(word.encode()), word.encode()))
                    wire.flush()
                    reply = wire.readline().decode().strip()
                    assert not reply.startswith("-"), f"{command[0]}: {reply}"
        return reply

    def last_served(self):
        """The sequence number of its last line."""
        lines = self.served()
        return lines[-1]["seq"] if lines else 0


PRICE_KINDS = (
    "input",
    "cached_input",
    "cache_write_5m",
    "cache_write_1h",
    "output",
    "reasoning",
    "audio_input",
    "audio_output",
    "image",
    "per_request",
)


def is_amount(kind, value):
    return kind in PRICE_KINDS and value is not None


def numbers(body):
    """The four numbers, exactly."""
    assert all(body[name] is None or isinstance(body[name], str) for name in NUMBERS), f"amounts are texts: {body}"
    return {name: None if body[name] is None else Decimal(body[name]) for name in NUMBERS}


def charge(price, usage):
    """The charge of a chat's usage: cached tokens are part of the prompt, reasoning tokens part of the output; a kind
    without a price takes the price of its base kind; rounded up once, at the end."""
    of = usage.model_dump() if hasattr(usage, "model_dump") else usage
    cached = (of.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    reasoning = (of.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    per_million = (of["prompt_tokens"] - cached) * price.get("input", 0)
    per_million += cached * price.get("cached_input", price.get("input", 0))
    per_million += (of["completion_tokens"] - reasoning) * price.get("output", 0)
    per_million += reasoning * price.get("reasoning", price.get("output", 0))
    exact = per_million / 1_000_000 + price.get("per_request", 0)
    return exact.quantize(UNIT, rounding=ROUND_CEILING)


def charge_of_message(price, usage):
    """The charge of a message's usage: here the cached tokens are not part of the input tokens."""
    per_million = usage.input_tokens * price["input"]
    per_million += (usage.cache_read_input_tokens or 0) * price["cached_input"]
    per_million += (usage.cache_creation_input_tokens or 0) * price["cache_write_5m"]
    per_million += usage.output_tokens * price["output"]
    return (per_million / 1_000_000).quantize(UNIT, rounding=ROUND_CEILING)
