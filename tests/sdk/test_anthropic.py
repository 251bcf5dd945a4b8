"""The same with Anthropic's SDK on `/v1/messages`."""

import anthropic
import pytest

from system import charge_of_message


@pytest.fixture(scope="module")
def model(system):
    """A model that the simulated upstream serves in Anthropic's dialect."""
    prices = {"input": "3", "cached_input": "0.30", "cache_write_5m": "3.75", "output": "15"}
    return system.new_model("messages", ["anthropic"], prices)


@pytest.fixture
def client(system, sent):
    """Makes a client of the gateway with the SDK's own retries."""
    made = []

    def make(key):
        http = anthropic.DefaultHttpxClient(event_hooks=sent.hooks())
        made.append(anthropic.Anthropic(base_url=system.gateway, api_key=key, http_client=http))
        return made[-1]

    yield make
    for one in made:
        one.close()


def message(model, script=""):
    return {"model": model, "max_tokens": 500, "messages": [{"role": "user", "content": f"hello {script}"}]}


@pytest.mark.parametrize("script", ["[[sim out=25]]", "[[sim prompt=1000 cached=300 cache_write=200 out=40 reasoning=9]]"])
def test_an_answer_plain_and_streamed_is_charged_exactly(system, model, client, script):
    caller = system.new_caller("10.00")
    plain = client(caller.key).messages.create(**message(model, script))
    with client(caller.key).messages.stream(**message(model, script)) as stream:
        streamed = stream.get_final_message()
    assert plain.content[0].text == streamed.content[0].text
    assert plain.usage == streamed.usage
    assert plain.stop_reason == streamed.stop_reason == "end_turn"
    cost = charge_of_message(system.price(model), plain.usage)
    assert system.at_rest(caller, used=2 * cost)["remaining"] == 10 - 2 * cost


def test_a_wrong_key(system, model, client, sent):
    with pytest.raises(anthropic.AuthenticationError) as error:
        client("tg_live_" + "0" * 38).messages.create(**message(model))
    assert error.value.body["error"]["type"] == "authentication_error"
    assert sent.attempts == 1


def test_an_unknown_model(system, client, sent):
    with pytest.raises(anthropic.NotFoundError) as error:
        client(system.demo.key).messages.create(**message("no-such-model"))
    assert error.value.body["error"]["type"] == "not_found_error"
    assert sent.attempts == 1


def test_a_bad_body(system, model, client, sent):
    with pytest.raises(anthropic.BadRequestError, match="messages") as error:
        client(system.demo.key).messages.create(model=model, max_tokens=5, messages="hello")
    assert error.value.body["error"]["type"] == "invalid_request_error"
    assert sent.attempts == 1


def test_quota_used_up(system, model, client, sent):
    caller = system.new_caller("0.00001000")
    before = system.last_served()
    with pytest.raises(anthropic.RateLimitError) as error:
        client(caller.key).messages.create(**message(model, "[[sim out=50]]"))
    assert error.value.body["error"]["type"] == "rate_limit_error"
    assert sent.attempts == 1
    assert system.served(before) == []


def test_an_upstream_failure_is_the_gateways(system, model, client):
    with pytest.raises(anthropic.InternalServerError) as error:
        client(system.demo.key).with_options(max_retries=0).messages.create(**message(model, "[[sim fault=status:529]]"))
    assert (error.value.status_code, error.value.body["error"]["type"]) == (502, "api_error")
