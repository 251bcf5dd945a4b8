"""Tenants that share a pool, over all gateways."""

import itertools
import time
import uuid
from concurrent.futures import ThreadPoolExecutor

import openai
import pytest

from system import call


def body(model):
    return {"model": model, "messages": [{"role": "user", "content": "hello"}]}


def new_pool(system, amount):
    """A pool of so much, half of it guaranteed to two members of the same weight; its id, and them."""
    budget = {"amount": f"{amount:f}", "period": "month"}
    pool = {"name": f"SDK test {uuid.uuid4()}", "unit": "credit", "guaranteed_percent": 50, "budget": budget}
    pool = system.post("/pools", pool)["id"]
    members = [system.new_caller("50.00") for _ in range(2)]
    for member in members:
        assert system.set_member(pool, member, 1)["in_force"]
    return pool, members


def ask(system, caller, model, calls):
    """Starts the calls and waits until each is held by the upstream or refused; returns how many are held, and the answers."""
    gateways = itertools.cycle(system.gateways)
    before = system.held()
    executor = ThreadPoolExecutor(calls)

    def post(gateway):
        return call("POST", f"{gateway}/v1/chat/completions", caller.key, body(model))

    answers = [executor.submit(post, next(gateways)) for _ in range(calls)]
    end = time.monotonic() + 60
    while system.held() - before + sum(answer.done() for answer in answers) < calls and time.monotonic() < end:
        time.sleep(0.05)
    return system.held() - before, answers


def test_a_member_may_borrow_all_but_what_the_other_is_guaranteed(system, openai_client):
    model, price = system.fixed_price_model()
    pool, (greedy, modest) = new_pool(system, price * 20)
    system.hold()
    try:
        held, answers = ask(system, greedy, model, 40)
        assert held == 15, "20 calls, of which 5 are kept for the other"
        shown = {member["tenant_id"]: member for member in system.get(f"/pools/{pool}")["members"]}
        assert shown[greedy.tenant_id]["borrowed"] == f"{price * 10:.8f}"
        kept, others = ask(system, modest, model, 8)
        assert kept == 5, "what is guaranteed is there, however much the other has borrowed"
    finally:
        system.release()
    replies = [answer.result() for answer in answers + others]
    assert sorted(status for status, _, _ in replies) == [200] * 20 + [429] * 28
    refused = next(reply for status, _, reply in replies if status == 429)["error"]
    assert refused["code"] == "insufficient_quota", refused
    told = refused["tollgate"]
    assert told["level"] == "pool", refused
    # The pool's numbers are the other members' too.
    assert not [name for name in ("total", "used", "frozen", "remaining") if told.get(name)], refused
    system.at_rest(greedy, used=price * 15)
    system.at_rest(modest, used=price * 5)
    assert system.get(f"/pools/{pool}")["quota"]["used"] == f"{price * 20:.8f}"
    assert set(system.caller_numbers(greedy)) == {"key", "project", "tenant"}

    client = openai_client(greedy.key).with_options(max_retries=0)
    with pytest.raises(openai.RateLimitError):
        client.chat.completions.create(**body(model))
    # Out of the pool its own quota alone counts, from the first call on.
    system.remove_member(pool, greedy)
    client.chat.completions.create(**body(model))
    system.at_rest(greedy, used=price * 16)
    assert system.get(f"/pools/{pool}")["quota"]["used"] == f"{price * 20:.8f}"


def test_calls_that_come_while_their_tenant_moves_are_answered(system):
    # Room for what all callers set aside at once.
    pool, (tenant, _) = new_pool(system, 40)
    with ThreadPoolExecutor(4) as executor:

        def work(gateway):
            statuses = []
            for _ in range(30):
                reply = call("POST", f"{gateway}/v1/chat/completions", tenant.key, body(system.model))
                statuses.append(reply[0] if reply[0] == 200 else reply[2])
            return statuses

        workers = [executor.submit(work, gateway) for gateway in system.gateways * 2]
        moves = 0
        while not all(worker.done() for worker in workers):
            system.remove_member(pool, tenant)
            system.set_member(pool, tenant, 1)
            moves += 2
        statuses = [status for worker in workers for status in worker.result()]
    refused = [status for status in statuses if status != 200]
    assert not refused, refused
    assert moves >= 2
    numbers = system.at_rest(tenant)
    assert numbers["total"] == numbers["used"] + numbers["remaining"]
