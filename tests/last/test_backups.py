"""After everything else has run: none of its secrets stands in what an operator backs up or reads, which is a dump of
Postgres, everything in Redis, and the logs of all processes."""

import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import urllib.request
import uuid

import pytest

# Whole secrets by their form; what is shown of a key is much shorter.
FORMS = {
    "a tenant's key": rb"tg_live_[0-9A-Za-z]{30,}",
    "a service token": rb"tgs_[0-9A-Za-z]{30,}",
    "a webhook's secret": rb"whsec_[0-9A-Za-z+/=]{24,}",
    "a session's token": rb"eyJ[\w-]{10,}\.eyJ[\w-]{10,}\.",
    "a second factor": rb"otpauth://",
    "a bearer": rb"(?i)authorization\W{1,4}bearer",
    "a cookie": rb"__Host-tollgate_(access|refresh)=\w",
    "a mailed link": rb"/(invitation|password-reset)#\w",
}


@pytest.fixture(scope="module")
def credentials():
    path = os.environ.get("TOLLGATE_CREDENTIALS")
    assert path, "set TOLLGATE_CREDENTIALS to the credentials.json of a running system (./dev up --detach writes it)"
    path = pathlib.Path(path)
    return json.loads(path.read_text()) | {"folder": path.parent}


def call(credentials, method, path, body=None):
    request = urllib.request.Request(f"{credentials['admin_url']}/api/v1{path}", method=method)
    request.add_header("Authorization", f"Bearer {credentials['service_token']}")
    request.add_header("Idempotency-Key", str(uuid.uuid4()))
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, json.dumps(body).encode() if body else None, timeout=30) as reply:
        return json.loads(reply.read())


def postgres_dump(credentials):
    homes = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/pg_dump"))
    program = homes[-1] if homes else shutil.which("pg_dump")
    assert program, "install PostgreSQL's client: apt-get install postgresql-client"
    command = [program, "--no-owner", "--dbname", credentials["database_owner_url"]]
    return subprocess.run(command, check=True, capture_output=True, timeout=120).stdout


def redis_dump(credentials):
    """Every key and value. A dump file would be compressed."""
    ask = ["redis-cli", "-u", credentials["redis_url"], "--no-raw"]
    keys = subprocess.run([*ask[:-1], "--scan"], check=True, capture_output=True, timeout=60).stdout.splitlines()
    read = {b"string": ["GET"], b"hash": ["HGETALL"], b"set": ["SMEMBERS"], b"zset": ["ZRANGE", "0", "-1", "WITHSCORES"]}
    read |= {b"list": ["LRANGE", "0", "-1"], b"stream": ["XRANGE", "-", "+"]}
    types = batch(ask[:-1], [["TYPE", key] for key in keys]).splitlines()
    commands = [[read[kind][0], key, *read[kind][1:]] for kind, key in zip(types, keys, strict=True) if kind in read]
    values = batch(ask[:-1], commands)
    assert len(values.splitlines()) > len(keys) > 10 and b"ERR" not in values
    return b"\n".join(keys) + values


def batch(ask, commands):
    lines = b"\n".join(b" ".join(b'"%s"' % (word if isinstance(word, bytes) else word.encode()) for word in words) for words in commands)
    return subprocess.run(ask, input=lines + b"\n", check=True, capture_output=True, timeout=120).stdout


def logs(credentials):
    return {path.name: path.read_bytes() for path in sorted((credentials["folder"] / "logs").glob("*.log"))}


def known(credentials):
    """What this system's own secrets are, in every way in which they could be written."""
    state = json.loads((credentials["folder"] / "state.json").read_text())
    secrets = dict(state["secrets"]) | {name: credentials[name] for name in ("service_token", "api_key", "admin_password")}
    for name, text in secrets.items():
        raw = text.encode()
        yield name, raw
        yield f"{name} in hex", raw.hex().encode()
        yield f"{name} in base64", base64.b64encode(raw).rstrip(b"=")[:-1]


def found(credentials, places):
    for place, content in places.items():
        for name, secret in known(credentials):
            if secret in content:
                yield f"{name} in {place}"
        for name, form in FORMS.items():
            if match := re.search(form, content):
                yield f"{name} in {place}: ...{content[max(0, match.start() - 60):match.end()]!r}"


def test_no_secret_stands_in_dumps_and_logs(credentials):
    # One of each kind of secret is made, whatever has run before.
    tenant = call(credentials, "POST", "/tenants", {"name": "secrets", "plan": {"amount": "1"}})["id"]
    project = call(credentials, "POST", f"/tenants/{tenant}/projects", {"name": "secrets"})["id"]
    key = call(credentials, "POST", f"/projects/{project}/keys", {"name": "secrets"})
    webhook = {"tenant_id": tenant, "url": "https://example.com/", "event_types": ["quota.low"]}
    made = [key["secret"], call(credentials, "POST", "/webhooks", webhook)["secret"]]
    made.append(call(credentials, "POST", f"/keys/{key['id']}/rotate", {"grace_s": 60})["secret"])
    prompt = f"a prompt that nobody but the provider reads {uuid.uuid4()}"
    body = {"model": credentials["model"], "messages": [{"role": "user", "content": prompt}]}
    request = urllib.request.Request(f"{credentials['gateway_url']}/v1/chat/completions", json.dumps(body).encode())
    request.add_header("Authorization", f"Bearer {made[2]}")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=30) as reply:
        request_id = reply.headers["x-request-id"]
        assert reply.status == 200

    places = {"Postgres": postgres_dump(credentials), "Redis": redis_dump(credentials)} | logs(credentials)
    # The search would see something if it were there: what may stand there does.
    assert key["prefix"].encode() in places["Postgres"] and b"INSERT" not in places["Postgres"][:10]
    assert b":k:" in places["Redis"] or b"{q" in places["Redis"]
    assert any(request_id.encode() in content for name, content in places.items() if name.startswith("gateway"))
    planted = {"a file": f"x {made[0]} y Bearer {credentials['service_token']}".encode()}
    assert len(list(found(credentials, planted))) == 3

    assert list(found(credentials, places)) == []
    for name, content in places.items():
        for secret in [*made, prompt]:
            assert secret.encode() not in content, f"{secret} in {name}"
