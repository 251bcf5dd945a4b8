"""The examples of the documents for integrators, run as they stand, in their order."""

import os
import pathlib
import re
import socket
import subprocess
import sys
import uuid

DOCS = pathlib.Path(__file__).parents[2] / "docs"


def blocks(name, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", (DOCS / name).read_text(), re.MULTILINE | re.DOTALL)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def test_the_billing_systems_examples(system, tmp_path):
    # What may stand once in a database, and a port that is free here.
    own = {"4711": uuid.uuid4().hex, "9000": free_port()}

    def as_here(text):
        for example, here in own.items():
            text = text.replace(example, here)
        return text

    (receiver,) = blocks("billing.md", "python")
    (tmp_path / "receiver.py").write_text(as_here(receiver))
    script = as_here("\n".join(blocks("billing.md", "sh")))
    # A second run is another customer's: the keys of its calls are others.
    script = re.sub(r"(Idempotency-Key: )", rf"\g<1>{own['4711']}-", script)
    environment = os.environ | {
        "ADMIN": f"{system.admin}/api/v1",
        "TOKEN": system.service_token,
        "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert "charged 0.25000000 left 19.75000000" in done.stdout
    assert re.search(r"webhook\.test t_\w+$", done.stdout, re.MULTILINE), done.stdout
    assert '"charge":"0.25000000"' in done.stdout.replace(" ", "") and "render" in done.stdout
