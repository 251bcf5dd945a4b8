"""A threshold that real calls cross is told once, signed so that the published library verifies it, and by mail."""

import http.server
import json
import threading
import time
import urllib.request

import pytest
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from system import NUMBERS, call, numbers


class Receiver:
    """Takes everything that is posted, and keeps it."""

    def __init__(self):
        self.got = []
        got = self.got

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got.append((body, dict(self.headers.items()), time.monotonic()))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/tollgate"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def wait(self, count, within=10):
        end = time.monotonic() + within
        while len(self.got) < count:
            assert time.monotonic() < end, f"{len(self.got)} of {count} webhooks came"
            time.sleep(0.05)
        return self.got


@pytest.fixture
def receiver():
    receiver = Receiver()
    yield receiver
    receiver.server.shutdown()


def add(system, receiver, tenant_id, types):
    return system.post("/webhooks", {"tenant_id": tenant_id, "url": receiver.url, "event_types": types})


def remove(system, webhook):
    request = urllib.request.Request(f"{system.admin}/api/v1/webhooks/{webhook['id']}", method="DELETE")
    request.add_header("Authorization", f"Bearer {system.service_token}")
    with urllib.request.urlopen(request, timeout=30) as reply:
        assert reply.status == 204


def mails(system, word):
    return [mail for mail in call("GET", f"{system.mail}/messages")[2] if word in mail["subject"]]


def test_a_threshold_crossed_by_real_calls_is_told_once(system, openai_client, receiver):
    model, price = system.fixed_price_model()
    caller = system.new_caller(f"{price * 10:f}")
    webhook = add(system, receiver, caller.tenant_id, ["quota.low"])
    client = openai_client(caller.key)
    message = {"role": "user", "content": "hello"}
    for _ in range(8):
        client.chat.completions.create(model=model, messages=[message])
    system.at_rest(caller, used=price * 8)
    time.sleep(1)
    assert receiver.got == [], "80 % is no threshold"
    client.chat.completions.create(model=model, messages=[message])
    system.at_rest(caller, used=price * 9)
    crossed = time.monotonic()
    body, headers, came = receiver.wait(1)[0]
    assert came - crossed < 2.5, "the first attempt within 2 s"

    event = Webhook(webhook["secret"]).verify(body, headers)
    assert event["type"] == "quota.low"
    data = event["data"]
    assert data["tenant_id"] == caller.tenant_id
    assert data["scope"] == {"kind": "tenant", "id": caller.tenant_id, "period": None}
    assert data["threshold_percent"] == 90
    told = numbers(data["quota"])
    assert (told["total"], told["used"]) == (price * 10, price * 9)
    assert told["total"] == told["used"] + told["frozen"] + told["remaining"]
    assert all(isinstance(data["quota"][name], str) for name in NUMBERS)
    assert data["version"] == data["quota"]["version"]

    for changed in (body.replace(b"90", b"91", 1), body + b" "):
        with pytest.raises(WebhookVerificationError):
            Webhook(webhook["secret"]).verify(changed, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").verify(body, headers)

    feed = system.get(f"/events?tenant_id={caller.tenant_id}&type=quota.low")["items"]
    assert [item["id"] for item in feed] == [{k.lower(): v for k, v in headers.items()}["webhook-id"]]
    assert feed[0]["data"] == data
    time.sleep(2)
    assert len(receiver.got) == 1, "exactly one"
    (delivery,) = system.get(f"/webhooks/{webhook['id']}/deliveries")["items"]
    assert (delivery["state"], [attempt["status"] for attempt in delivery["attempts"]]) == ("delivered", [204])
    remove(system, webhook)

    # The tenant has no people: the platform's owner is told by mail.
    name = system.get(f"/tenants/{caller.tenant_id}")["name"]
    end = time.monotonic() + 10
    while not mails(system, name) and time.monotonic() < end:
        time.sleep(0.1)
    (mail,) = mails(system, name)
    assert mail["subject"] == f"{name}: 90 % of the quota is used"
    whole = call("GET", f"{system.mail}/messages/{mail['id']}")[2]
    assert f"Remaining: {price:.8f}" in whole["text"] and "<table>" in whole["html"]


def test_both_secrets_verify_after_a_rotation_and_a_redelivery_has_the_same_id(system, receiver):
    caller = system.new_caller("1.00")
    webhook = add(system, receiver, caller.tenant_id, ["webhook.test"])
    rotated = system.post(f"/webhooks/{webhook['id']}/rotate-secret", {})
    sent = system.post(f"/webhooks/{webhook['id']}/test", {})
    body, headers, _ = receiver.wait(1)[0]
    for secret in (webhook["secret"], rotated["secret"]):
        event = Webhook(secret).verify(body, headers)
        assert event["data"] == {"tenant_id": caller.tenant_id, "webhook_id": webhook["id"]}
    assert system.post(f"/webhooks/{webhook['id']}/redeliver", {"event_ids": [sent["event_id"]]}) == {"queued": 1}
    again, later, _ = receiver.wait(2)[1]
    assert again == body and later["webhook-id"] == headers["webhook-id"] == sent["event_id"]
    Webhook(rotated["secret"]).verify(again, later)
    remove(system, webhook)


def test_inner_addresses_are_never_connected_to(system, receiver):
    caller = system.new_caller("1.00")
    for url in ("https://10.0.0.1/", "https://169.254.169.254/latest/", "https://[fd00::1]/", "https://[64:ff9b::a00:1]/"):
        webhook = system.post(
            "/webhooks", {"tenant_id": caller.tenant_id, "url": url, "event_types": ["webhook.test"]}
        )
        system.post(f"/webhooks/{webhook['id']}/test", {})
        end = time.monotonic() + 10
        attempts = []
        while not attempts and time.monotonic() < end:
            items = system.get(f"/webhooks/{webhook['id']}/deliveries")["items"]
            attempts = items[0]["attempts"] if items else []
            time.sleep(0.1)
        assert attempts and attempts[0]["status"] is None and "not connected" in attempts[0]["error"], (url, attempts)
        remove(system, webhook)


def test_every_type_has_a_schema(system):
    types = {item["type"]: item["schema"] for item in system.get("/event-types")}
    assert {"quota.low", "endpoint.disabled", "webhook.test"} <= set(types)
    assert all(json.dumps(schema) and schema["properties"]["type"]["const"] == name for name, schema in types.items())
