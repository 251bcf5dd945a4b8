"""Schemathesis calls every operation of the served OpenAPI document with what the document allows and what it forbids:
nothing answers 5xx, and nothing that the document does not say.

Only what this tenant owns is named in paths, so that calls reach beyond "not found".
"""

import json
import os
import pathlib
import subprocess
import sys
import urllib.request
import uuid

import pytest

# Examples per operation and phase; the seed is fixed so that a failure can be seen again.
EXAMPLES, SEED = 3, 20261130
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


class Admin:
    def __init__(self, credentials):
        self.url = f"{credentials['admin_url']}/api/v1"
        self.token = credentials["service_token"]
        self.email, self.password = credentials["admin_email"], credentials["admin_password"]

    def call(self, method, path, body=None, headers=()):
        request = urllib.request.Request(f"{self.url}{path}", method=method, headers=dict(headers))
        if not headers:
            request.add_header("Authorization", f"Bearer {self.token}")
        request.add_header("Idempotency-Key", str(uuid.uuid4()))
        request.add_header("Content-Type", "application/json")
        data = json.dumps(body).encode() if body is not None else None
        with urllib.request.urlopen(request, data, timeout=30) as reply:
            return json.loads(reply.read()), reply.headers

    def post(self, path, body):
        return self.call("POST", path, body)[0]["id"]

    def session(self):
        """Headers of a signed-in platform owner."""
        body = {"email": self.email, "password": self.password}
        _, headers = self.call("POST", "/session", body, {"X-Tollgate-Csrf": "1"})
        cookies = [line.split(";")[0] for line in headers.get_all("Set-Cookie")]
        return {"Cookie": "; ".join(cookies), "X-Tollgate-Csrf": "1"}


@pytest.fixture(scope="module")
def admin():
    path = os.environ.get("TOLLGATE_CREDENTIALS")
    assert path, "set TOLLGATE_CREDENTIALS to the credentials.json of a running system (./dev up --detach writes it)"
    return Admin(json.loads(pathlib.Path(path).read_text()))


@pytest.fixture(scope="module")
def parameters(admin):
    """One of everything, by the name of its path parameter."""
    name = f"document {uuid.uuid4()}"
    tenant = admin.post("/tenants", {"name": name, "plan": {"amount": "5"}})
    project = admin.post(f"/tenants/{tenant}/projects", {"name": name})
    model = admin.post("/models", {"name": name, "context_window": 1000, "max_output_tokens": 100})
    upstream = {"name": name, "kind": "openai", "base_url": "http://127.0.0.1:9/v1", "api_key": "none"}
    return {
        "t": tenant,
        "p": project,
        "k": admin.post(f"/projects/{project}/keys", {"name": name}),
        "g": admin.post(f"/tenants/{tenant}/grants", {"kind": "gift", "amount": "1", "note": name}),
        "m": model,
        "u": admin.post("/upstreams", upstream),
        "w": admin.post("/webhooks", {"tenant_id": tenant, "url": "https://example.com/", "event_types": ["quota.low"]}),
    }


def run(admin, folder, headers, parameters, *selection):
    lines = ["[parameters]", '"header.If-Match" = "*"']
    lines += [f'"path.{name}" = "{value}"' for name, value in parameters.items()]
    (folder / "schemathesis.toml").write_text("\n".join(lines) + "\n")
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{admin.url}/openapi.json", "--checks", ",".join(CHECKS)]
    command += ["--phases", "examples,coverage,fuzzing", "--max-examples", str(EXAMPLES), "--seed", str(SEED)]
    command += ["--continue-on-failure", "--no-shrink", "--generation-database", "none", *selection]
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
    print(done.stdout[-20_000:], done.stderr[-2_000:])
    assert done.returncode == 0
    assert "Unresolvable references" not in done.stdout
    summary = [line.split() for line in done.stdout.splitlines() if "Selected:" in line or "Tested:" in line]
    (selected, _, of), tested = summary[0][1].partition("/"), int(summary[1][1])
    assert tested == int(selected), "operations were left out"
    return int(selected), int(of)


def test_a_system_gets_what_the_document_says(admin, parameters, tmp_path):
    selected, of = run(admin, tmp_path, {"Authorization": f"Bearer {admin.token}"}, parameters)
    assert selected == of > 90


def test_an_owner_gets_what_the_document_says(admin, parameters, tmp_path):
    # What concerns people only; not what would end this session or begin another.
    paths = "^/api/v1/(me/sessions|overview|service-tokens|settings|system|users|upstreams/rewrap-keys)"
    selected, _ = run(admin, tmp_path, admin.session(), parameters, "--include-path-regex", paths)
    assert selected >= 12
