"""The four numbers move by exactly the charge, for the caller and for the operator."""

import pytest

from system import charge


def chat(model, script):
    return {"model": model, "messages": [{"role": "user", "content": f"hello {script}"}]}


def moved(before, after):
    """By how much each number moved."""
    return {name: after[name] - before[name] for name in before if before[name] is not None}


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "streamed"])
@pytest.mark.parametrize(
    "script",
    ["", "[[sim out=333]]", "[[sim prompt=1001 cached=333 out=77 reasoning=50]]", "[[sim out=10 usage=lie:+5]]"],
    ids=["short", "long", "cached and reasoning", "more than was sent"],
)
def test_the_numbers_move_by_the_charge_of_the_reported_usage(system, openai_client, script, stream):
    client = openai_client(system.demo.key)
    before = system.at_rest(system.demo)
    levels = system.caller_numbers(system.demo)
    if stream:
        chunks = client.chat.completions.create(
            **chat(system.model, script), stream=True, stream_options={"include_usage": True}
        )
        usage = list(chunks)[-1].usage
    else:
        usage = client.chat.completions.create(**chat(system.model, script)).usage
    cost = charge(system.price(system.model), usage)
    assert cost > 0
    after = system.at_rest(system.demo, used=before["used"] + cost)
    assert moved(before, after) == {"total": 0, "used": cost, "frozen": 0, "remaining": -cost}
    for level, numbers in system.caller_numbers(system.demo).items():
        change = moved(levels[level], numbers)
        assert (change["used"], change["frozen"]) == (cost, 0), level


def test_a_stream_that_did_not_ask_for_usage_is_charged_by_it(system, openai_client):
    before = system.at_rest(system.demo)
    seen = system.last_served()
    list(openai_client(system.demo.key).chat.completions.create(**chat(system.model, "[[sim out=40]]"), stream=True))
    (line,) = system.served(seen)
    cost = charge(system.price(system.model), line["usage"])
    system.at_rest(system.demo, used=before["used"] + cost)


def test_a_failed_call_costs_nothing(system, openai_client):
    before = system.at_rest(system.demo)
    client = openai_client(system.demo.key).with_options(max_retries=0)
    for fault in ("status:500", "error200", "html", "reset:0"):
        with pytest.raises(Exception, match=r"50\d|upstream"):
            client.chat.completions.create(**chat(system.model, f"[[sim fault={fault}]]"))
    assert system.at_rest(system.demo) == before


def test_the_prompt_and_what_was_relayed_is_charged_where_the_caller_leaves(system, openai_client):
    before = system.at_rest(system.demo)
    seen = system.last_served()
    stream = openai_client(system.demo.key).chat.completions.create(
        **chat(system.model, "[[sim out=2000 chunks=2000 delay_ms=20]]"), stream=True
    )
    for _, _chunk in zip(range(30), stream):
        pass
    stream.close()
    after = system.at_rest(system.demo)
    (line,) = system.served(seen)
    assert line["ending"] == "closed_by_client"
    price = system.price(system.model)

    def cost(tokens):
        return charge(price, {"prompt_tokens": line["prompt_tokens"], "completion_tokens": tokens})

    used = after["used"] - before["used"]
    assert cost(20) <= used <= cost(line["output_tokens_sent"]), (used, line)


def test_a_new_tenants_first_call_passes_at_once(system, openai_client):
    caller = system.new_caller("1.00")
    usage = openai_client(caller.key).chat.completions.create(**chat(system.model, "")).usage
    cost = charge(system.price(system.model), usage)
    after = system.at_rest(caller, used=cost)
    assert (after["total"], after["remaining"]) == (1, 1 - cost)
