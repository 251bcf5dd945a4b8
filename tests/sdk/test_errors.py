"""What an application catches, and how often its SDK tries: retries of what can't succeed cost everybody time."""

import re

import openai
import pytest

from system import NUMBERS, call, charge


def chat(model, script=""):
    return {"model": model, "messages": [{"role": "user", "content": f"hello {script}"}]}


def caught(client, sent, kind, body):
    """The exception, after exactly one attempt that no upstream saw."""
    with pytest.raises(kind) as error:
        client.chat.completions.create(**body)
    assert type(error.value) is kind
    assert sent.attempts == 1, "the SDK must not try again"
    assert sent.request_ids[0], "every reply has an x-request-id"
    assert error.value.request_id == sent.request_ids[0]
    return error.value


@pytest.mark.parametrize(
    "key",
    ["tg_live_" + "0" * 38, "sk-of-somebody-else", "tg_live_short"],
    ids=["well formed", "foreign", "too short"],
)
def test_a_wrong_key(system, openai_client, sent, key):
    before = system.last_served()
    error = caught(openai_client(key), sent, openai.AuthenticationError, chat(system.model))
    assert (error.status_code, error.code) == (401, "invalid_api_key")
    assert key not in str(error)
    assert system.served(before) == []


def test_no_key(system):
    status, _, body = call("POST", f"{system.gateway}/v1/chat/completions", body=chat(system.model))
    assert (status, body["error"]["code"]) == (401, "invalid_api_key")


def test_an_unknown_model(system, openai_client, sent):
    before = system.last_served()
    error = caught(openai_client(system.demo.key), sent, openai.NotFoundError, chat("no-such-model"))
    assert (error.status_code, error.code) == (404, "model_not_found")
    assert "no-such-model" in error.message
    assert system.served(before) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"messages": "hello"}, "messages"),
        ({"max_tokens": -5}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"n": 0}, "n"),
        ({"stream": "yes"}, "stream"),
    ],
    ids=lambda value: str(value),
)
def test_a_bad_body(system, openai_client, sent, change, field):
    before = system.last_served()
    body = chat(system.model) | {"extra_body": change}
    error = caught(openai_client(system.demo.key), sent, openai.BadRequestError, body)
    assert error.status_code == 400
    assert re.search(rf"\b{field}\b", error.message), error.message
    assert system.served(before) == []


def test_a_body_that_is_not_json(system):
    import urllib.error
    import urllib.request

    request = urllib.request.Request(
        f"{system.gateway}/v1/chat/completions",
        b"{not json",
        {"Authorization": f"Bearer {system.demo.key}", "Content-Type": "application/json"},
    )
    with pytest.raises(urllib.error.HTTPError) as error:
        urllib.request.urlopen(request, timeout=10)
    assert error.value.code == 400


def test_quota_used_up(system, openai_client, sent):
    caller = system.new_caller("0.00001000")
    before = system.last_served()
    error = caught(openai_client(caller.key), sent, openai.RateLimitError, chat(system.model, "[[sim out=5000]]" * 20))
    assert (error.status_code, error.code) == (429, "insufficient_quota")
    assert error.response.headers["x-should-retry"] == "false"
    assert int(error.response.headers["retry-after"]) > 0
    told = error.response.json()["error"].get("tollgate") or error.response.json()["tollgate"]
    assert told["level"] == "tenant"
    assert all(isinstance(told[name], str) for name in NUMBERS)
    assert told["remedy"]
    assert system.served(before) == []
    assert system.at_rest(caller)["used"] == 0


def test_quota_used_up_call_by_call(system, openai_client):
    """Calls pass until the quota is gone, and what passed is what is charged."""
    caller = system.new_caller("0.00100000")
    client = openai_client(caller.key)
    price = system.price(system.model)
    cost = 0
    for _ in range(100):
        try:
            answer = client.chat.completions.create(**chat(system.model, "[[sim out=50]]"), max_tokens=50)
        except openai.RateLimitError as error:
            assert error.code == "insufficient_quota"
            break
        cost += charge(price, answer.usage)
    else:
        raise AssertionError("100 calls passed")
    assert cost > 0
    after = system.at_rest(caller, used=cost)
    assert after["remaining"] == after["total"] - cost


def test_an_upstream_failure_is_the_gateways_and_may_be_tried_again(system, openai_client, sent):
    client = openai_client(system.demo.key).with_options(max_retries=1)
    with pytest.raises(openai.InternalServerError) as error:
        client.chat.completions.create(**chat(system.model, "[[sim fault=status:500]]"))
    assert (error.value.status_code, error.value.code) == (502, "upstream_error")
    assert sent.attempts == 2


@pytest.mark.parametrize("status", [401, 402, 403])
def test_the_providers_quarrel_with_us_is_not_the_callers_fault(system, openai_client, status):
    client = openai_client(system.demo.key).with_options(max_retries=0)
    with pytest.raises(openai.InternalServerError) as error:
        client.chat.completions.create(**chat(system.model, f"[[sim fault=status:{status}]]"))
    assert (error.value.status_code, error.value.code) == (502, "upstream_auth")


def test_the_providers_rate_limit_is_passed_on(system, openai_client):
    client = openai_client(system.demo.key).with_options(max_retries=0)
    with pytest.raises(openai.RateLimitError) as error:
        client.chat.completions.create(**chat(system.model, "[[sim fault=status:429 retry_after=7]]"))
    assert error.value.code == "upstream_rate_limited"
    assert error.value.response.headers["retry-after"] == "7"
