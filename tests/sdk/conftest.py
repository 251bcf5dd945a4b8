"""Fixtures: the system, SDK clients, and a count of what they send."""

import json
import os
import pathlib
import subprocess
import sys

import anthropic
import openai
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

from system import System  # noqa: E402


@pytest.fixture(scope="session")
def system():
    path = os.environ.get("TOLLGATE_CREDENTIALS")
    assert path, "set TOLLGATE_CREDENTIALS to the credentials.json of a running system (./dev up --detach writes it)"
    return System(json.loads(pathlib.Path(path).read_text()))


class Sent:
    """The requests that an SDK sent, and the request ids of the replies."""

    def __init__(self):
        self.requests = []
        self.request_ids = []

    def hooks(self):
        return {"request": [self.requests.append], "response": [self.reply]}

    def reply(self, response):
        self.request_ids.append(response.headers.get("x-request-id"))

    @property
    def attempts(self):
        return len(self.requests)


@pytest.fixture
def sent():
    return Sent()


@pytest.fixture
def openai_client(system, sent):
    """Makes a client of the gateway with the SDK's own retries."""
    made = []

    def make(key):
        http = openai.DefaultHttpxClient(event_hooks=sent.hooks())
        client = openai.OpenAI(base_url=f"{system.gateway}/v1", api_key=key, http_client=http)
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture(scope="session")
def simulated():
    """The base URL of a simulated upstream of our own."""
    target = os.environ.get("CARGO_TARGET_DIR") or pathlib.Path(__file__).parents[2] / "target"
    program = pathlib.Path(target) / "debug" / "sim-upstream"
    assert program.exists(), f"{program} is missing: cargo build -p tollgate-sim-upstream"
    process = subprocess.Popen([program, "--api-key", "sk-sim"], stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait(10)


@pytest.fixture(scope="session")
def simulated_openai(simulated):
    with openai.OpenAI(base_url=f"{simulated}/v1", api_key="sk-sim") as client:
        yield client


@pytest.fixture(scope="session")
def simulated_anthropic(simulated):
    with anthropic.Anthropic(base_url=simulated, api_key="sk-sim") as client:
        yield client
