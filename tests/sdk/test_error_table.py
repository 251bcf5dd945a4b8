"""Every row of the error table, through both SDKs: the exception's class, the code, and how often the SDK tries.

An SDK's own retries are left on; only its waiting is skipped, and kept to be looked at.
"""

import threading
import time
import uuid
from dataclasses import dataclass, replace

import anthropic
import openai
import pytest

from system import Caller, call

# The SDKs' default: a first attempt and two more.
ONCE, RETRIED = 1, 3


@dataclass
class Row:
    """What both SDKs have to make of one situation."""

    status: int
    code: str | None
    openai: type
    anthropic: type
    kind: str
    attempts: int


REFUSED = Row(401, "invalid_api_key", openai.AuthenticationError, anthropic.AuthenticationError, "authentication_error", ONCE)
SUSPENDED = Row(403, "tenant_suspended", openai.PermissionDeniedError, anthropic.PermissionDeniedError, "permission_error", ONCE)
ADDRESS = Row(403, "address_not_allowed", openai.PermissionDeniedError, anthropic.PermissionDeniedError, "permission_error", ONCE)
UNKNOWN = Row(404, "model_not_found", openai.NotFoundError, anthropic.NotFoundError, "not_found_error", ONCE)
RATE = Row(429, "rate_limit_exceeded", openai.RateLimitError, anthropic.RateLimitError, "rate_limit_error", RETRIED)
QUOTA = Row(429, "insufficient_quota", openai.RateLimitError, anthropic.RateLimitError, "rate_limit_error", ONCE)
PAYMENT = Row(402, "payment_required", openai.APIStatusError, anthropic.PaymentRequiredError, "billing_error", ONCE)
LARGE = Row(413, None, openai.APIStatusError, anthropic.RequestTooLargeError, "request_too_large", ONCE)
LEDGER = Row(503, "ledger_unavailable", openai.InternalServerError, anthropic.ServiceUnavailableError, "api_error", RETRIED)
UPSTREAM = Row(502, "upstream_error", openai.InternalServerError, anthropic.InternalServerError, "api_error", RETRIED)
UPSTREAM_AUTH = Row(502, "upstream_auth", openai.InternalServerError, anthropic.InternalServerError, "api_error", RETRIED)
UPSTREAM_RATE = Row(429, "upstream_rate_limited", openai.RateLimitError, anthropic.RateLimitError, "rate_limit_error", RETRIED)
UPSTREAM_TIME = Row(504, "upstream_timeout", openai.InternalServerError, anthropic.GatewayTimeoutError, "api_error", RETRIED)
# Passed on with the provider's own words: no code of ours.
BAD = Row(400, None, openai.BadRequestError, anthropic.BadRequestError, "invalid_request_error", ONCE)
MISSING = Row(404, None, openai.NotFoundError, anthropic.NotFoundError, "not_found_error", ONCE)
CONFLICT = Row(409, None, openai.ConflictError, anthropic.ConflictError, "invalid_request_error", RETRIED)
UPSTREAM_LARGE = Row(413, None, openai.APIStatusError, anthropic.RequestTooLargeError, "request_too_large", ONCE)
UNPROCESSABLE = Row(422, None, openai.UnprocessableEntityError, anthropic.UnprocessableEntityError, "invalid_request_error", ONCE)


class Place:
    """A system with models of our own that speak both dialects: their targets' faults eject nobody else's."""

    def __init__(self, system):
        self.system = system
        self.model = system.new_model("table", ["openai", "anthropic"], {"input": "3", "output": "15"})
        self.each = system.new_model("table", ["openai", "anthropic"], {"per_request": "1"})

    def key(self, plan="10.00", project=None, settings=None, **key):
        """A tenant of its own with one key; returns the caller and the key's id."""
        tenant = self.system.post(
            "/tenants",
            {
                "name": f"table {uuid.uuid4()}",
                "unit": "credit",
                "time_zone": "UTC",
                "period": {"kind": "month"},
                "plan": {"amount": plan},
            }
            | ({"settings": settings} if settings else {}),
        )
        project = self.system.post(f"/tenants/{tenant['id']}/projects", {"name": "table"} | (project or {}))
        made = self.system.post(f"/projects/{project['id']}/keys", {"name": "table"} | key)
        return Caller(tenant["id"], made["secret"]), made["id"]

    def spent(self, caller, model=None):
        """One call that passes, and is settled."""
        status, _, body = self.send(caller, model)
        assert status == 200, body
        self.system.at_rest(caller)
        return caller

    def send(self, caller, model=None, script="[[sim out=20]]"):
        body = {"model": model or self.model, "max_tokens": 50, "messages": [{"role": "user", "content": f"hello {script}"}]}
        return call("POST", f"{self.system.gateway}/v1/chat/completions", caller.key, body)


@pytest.fixture(scope="module")
def place(system):
    return Place(system)


@pytest.fixture
def waits(monkeypatch):
    """The SDKs' waiting, kept instead of done."""
    kept = []
    for client in (openai.OpenAI, anthropic.Anthropic):
        monkeypatch.setattr(client, "_sleep_for_retry", note_wait(kept))
    return kept


def note_wait(kept):
    def sleep(self, *, retries_taken, max_retries, options, response):
        headers = None if response is None else response.headers
        kept.append(self._calculate_retry_timeout(max_retries - retries_taken, options, headers))

    return sleep


def caught_by_openai(place, caller, model, script, sent):
    http = openai.DefaultHttpxClient(event_hooks=sent.hooks())
    with openai.OpenAI(base_url=f"{place.system.gateway}/v1", api_key=caller.key, http_client=http) as client:
        with pytest.raises(openai.APIStatusError) as error:
            client.chat.completions.create(model=model, max_tokens=50, messages=[{"role": "user", "content": script}])
    return error.value


def caught_by_anthropic(place, caller, model, script, sent):
    http = anthropic.DefaultHttpxClient(event_hooks=sent.hooks())
    with anthropic.Anthropic(base_url=place.system.gateway, api_key=caller.key, http_client=http) as client:
        with pytest.raises(anthropic.APIStatusError) as error:
            client.messages.create(model=model, max_tokens=50, messages=[{"role": "user", "content": script}])
    return error.value


def check(place, caller, row, waits, model=None, script="hello [[sim out=20]]"):
    """Both SDKs against one situation; returns what each was told."""
    from conftest import Sent

    told = []
    for catch in (caught_by_openai, caught_by_anthropic):
        sent = Sent()
        waits.clear()
        error = catch(place, caller, model or place.model, script, sent)
        is_openai = catch is caught_by_openai
        assert type(error) is (row.openai if is_openai else row.anthropic), error
        assert error.status_code == row.status
        assert sent.attempts == row.attempts, f"{sent.attempts} attempts"
        assert len(set(sent.request_ids)) == row.attempts and all(sent.request_ids), "each reply has an id of its own"
        body = error.response.json()["error"]
        if is_openai:
            assert row.code is None or body["code"] == row.code
        else:
            assert body["type"] == row.kind, body
        assert caller.key not in error.response.text
        after = error.response.headers.get("retry-after")
        if after is not None and row.attempts > 1:
            assert all(float(after) - 2 < wait <= float(after) for wait in waits), (waits, after)
        told.append(error.response)
    return told


def numbers_and_remedy(responses, level, limit):
    for response in responses:
        body = response.json()
        detail = body["error"].get("tollgate") or body.get("tollgate")
        assert (detail["level"], detail["limit"]) == (level, limit), detail
        assert detail["remedy"]


def test_keys_that_are_no_longer_good(place, waits):
    caller, key = place.key()
    place.spent(caller)
    place.system.post(f"/keys/{key}/disable", {"reason": "test"})
    check(place, caller, REFUSED, waits)
    soon = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 2))
    caller, _ = place.key(expires_at=soon)
    time.sleep(2.1)
    check(place, caller, REFUSED, waits)


def test_a_suspended_tenant(place, waits):
    caller, _ = place.key()
    place.system.post(f"/tenants/{caller.tenant_id}/suspend", {"reason": "test"})
    check(place, caller, SUSPENDED, waits)


def test_an_address_that_is_not_allowed(place, waits):
    caller, _ = place.key(ip_ranges=["203.0.113.0/24"])
    check(place, caller, ADDRESS, waits)


def test_a_model_that_is_unknown_or_not_for_this_key(place, waits):
    caller, _ = place.key(models=[place.each])
    check(place, caller, UNKNOWN, waits, model="no-such-model")
    check(place, caller, UNKNOWN, waits)


@pytest.mark.parametrize("limit", ["rpm", "rpd", "tpm", "tpd"])
def test_rates(place, waits, limit):
    caller, _ = place.key(limits={limit: 1 if limit.startswith("r") else 60})
    place.spent(caller)
    # An SDK does not wait for hours: it gives up at once where it is told to wait so long.
    row = RATE if limit.endswith("m") else replace(RATE, attempts=ONCE)
    told = check(place, caller, row, waits)
    numbers_and_remedy(told, "key", limit)
    assert all(0 < float(response.headers["retry-after"]) <= 86_400 for response in told)


def test_in_flight(place, waits):
    caller, _ = place.key(limits={"in_flight": 1})
    first = threading.Thread(target=place.send, args=(caller,))
    place.system.hold()
    try:
        first.start()
        end = time.monotonic() + 5
        while place.system.held() == 0:
            assert time.monotonic() < end, "the first call did not come through"
            time.sleep(0.02)
        told = check(place, caller, RATE, waits)
    finally:
        place.system.release()
    first.join()
    assert [response.headers["retry-after"] for response in told] == ["1", "1"]
    numbers_and_remedy(told, "key", "in_flight")


@pytest.mark.parametrize("level", ["tenant", "project", "key"])
def test_quota_and_budgets_used_up(place, waits, level):
    budget = {"budget": {"amount": "1", "period": "month"}}
    caller, _ = place.key(
        plan="1" if level == "tenant" else "10",
        project=budget if level == "project" else None,
        **(budget if level == "key" else {}),
    )
    place.spent(caller, place.each)
    told = check(place, caller, QUOTA, waits, model=place.each)
    numbers_and_remedy(told, level, "quota")
    assert all(response.headers["x-should-retry"] == "false" for response in told)
    assert all(0 < int(response.headers["retry-after"]) <= 60 for response in told)


def test_overdraft_used_up_and_a_hard_stop(place, waits):
    caller, _ = place.key(plan="1", settings={"overdraft": {"enabled": True, "limit": "1"}})
    place.spent(caller, place.each)
    status, headers, _ = place.send(caller, place.each)
    assert (status, headers["X-Quota-Overage"]) == (200, "true")
    place.system.at_rest(caller)
    told = check(place, caller, PAYMENT, waits, model=place.each)
    assert all(response.headers["x-should-retry"] == "false" for response in told)
    caller, _ = place.key(plan="1", settings={"hard_stop": True})
    place.spent(caller, place.each)
    check(place, caller, PAYMENT, waits, model=place.each)


def test_a_body_that_is_too_large(place, waits):
    caller, _ = place.key()
    check(place, caller, LARGE, waits, script="x" * (33 * 1024 * 1024))
    assert place.system.at_rest(caller)["used"] == 0


def test_a_ledger_that_does_not_answer(place, waits):
    caller, _ = place.key(settings={"outage": [{"mode": "deny"}]})
    place.spent(caller)
    place.system.redis_command("CLIENT", "PAUSE", "4000")
    told = check(place, caller, LEDGER, waits)
    assert all(int(response.headers["retry-after"]) > 0 for response in told)
    end = time.monotonic() + 20
    while place.send(caller)[0] != 200:
        assert time.monotonic() < end, "the gateway comes back by itself"
        time.sleep(0.2)
    place.system.at_rest(caller)


@pytest.mark.parametrize(
    ("fault", "row"),
    [
        ("status:400", BAD),
        ("status:404", MISSING),
        ("status:409", CONFLICT),
        ("status:413", UPSTREAM_LARGE),
        ("status:422", UNPROCESSABLE),
        ("status:401", UPSTREAM_AUTH),
        ("status:402", UPSTREAM_AUTH),
        ("status:403", UPSTREAM_AUTH),
        ("status:429 retry_after=7", UPSTREAM_RATE),
        ("status:500", UPSTREAM),
        ("status:503", UPSTREAM),
        ("reset:0", UPSTREAM),
        ("garbage", UPSTREAM),
        ("html", UPSTREAM),
        ("error200", UPSTREAM),
        ("status:408", UPSTREAM_TIME),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_an_upstream_does(place, waits, fault, row):
    caller, _ = place.key()
    told = check(place, caller, row, waits, script=f"hello [[sim fault={fault}]]")
    if "retry_after" in fault:
        assert [response.headers["retry-after"] for response in told] == ["7", "7"]
    assert place.system.at_rest(caller)["used"] == 0, "what failed costs nothing"
