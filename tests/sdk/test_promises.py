"""What holds under many calls at once, over all gateways."""

import itertools
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from system import call, charge


def chat(model, script=""):
    return {"model": model, "messages": [{"role": "user", "content": f"hello {script}"}]}


def post(gateway, caller, body):
    status, _, reply = call("POST", f"{gateway}/v1/chat/completions", caller.key, body)
    return status, reply


@pytest.mark.parametrize(("calls", "pays_for"), [(200, 1), (200, 7), (100, 50)])
def test_exactly_as_many_calls_pass_as_the_quota_pays_for(system, calls, pays_for):
    model, price = system.fixed_price_model()
    caller = system.new_caller(f"{price * pays_for:f}")
    seen = system.last_served()
    gateways = itertools.cycle(system.gateways)
    system.hold()
    try:
        with ThreadPoolExecutor(calls) as pool:
            answers = [pool.submit(post, next(gateways), caller, chat(model)) for _ in range(calls)]
            # Every call is decided: it is held by the upstream, or it has been refused.
            end = time.monotonic() + 60
            while system.held() + sum(answer.done() for answer in answers) < calls and time.monotonic() < end:
                time.sleep(0.05)
            held, refused = system.held(), sum(answer.done() for answer in answers)
            frozen = system.caller_numbers(caller)["tenant"]
            system.release()
            statuses = [answer.result()[0] for answer in answers]
    finally:
        system.release()
    assert (held, refused) == (pays_for, calls - pays_for)
    assert (frozen["frozen"], frozen["remaining"]) == (price * pays_for, 0)
    assert sorted(statuses) == [200] * pays_for + [429] * (calls - pays_for)
    assert len(system.served(seen)) == pays_for
    assert system.at_rest(caller, used=price * pays_for)["remaining"] == 0


def test_a_wiped_redis_costs_nobody_a_call_or_a_charge(system):
    caller = system.new_caller("50.00")
    price = system.price(system.model)
    stop = threading.Event()
    costs, errors = [], []

    def work(gateway):
        while not stop.is_set():
            status, reply = post(gateway, caller, chat(system.model, "[[sim out=40 delay_ms=20]]"))
            if status == 200:
                costs.append(charge(price, reply["usage"]))
            else:
                errors.append((status, reply))

    workers = [threading.Thread(target=work, args=(gateway,)) for gateway in system.gateways for _ in range(4)]
    for worker in workers:
        worker.start()
    try:
        for _ in range(3):
            time.sleep(1)
            assert system.redis_command("FLUSHALL") == "+OK"
        time.sleep(1)
    finally:
        stop.set()
        for worker in workers:
            worker.join()
    assert errors == []
    assert len(costs) > 20
    system.at_rest(caller, used=sum(costs), within=10)
