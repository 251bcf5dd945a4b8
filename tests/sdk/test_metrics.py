"""What dashboards and alert rules name is there in a scrape of the running services, from their start on."""

import json
import pathlib
import re
import urllib.request

import pytest

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
METRIC = re.compile(r"\btollgate_[a-z0-9_]+")


@pytest.fixture(scope="module")
def scraped(system):
    """Names and kinds of all metrics of all services."""
    urls = system.metrics
    texts = [urllib.request.urlopen(url, timeout=10).read().decode() for url in (*urls["gateways"], urls["admin_api"], urls["reconciler"])]
    kinds = {}
    for line in "\n".join(texts).splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split()
            kinds[name] = kind
    return kinds


def expressions():
    """Every query of rules and dashboards, by where it stands."""
    rules = (DEPLOY / "prometheus/rules.yml").read_text()
    found = [("rules.yml", line) for line in rules.splitlines() if "summary:" not in line]
    for board in sorted((DEPLOY / "grafana").glob("*.json")):
        for panel in json.loads(board.read_text())["panels"]:
            found += [(f"{board.name}, {panel['title']}", target["expr"]) for target in panel["targets"]]
    return found


def test_every_metric_of_a_rule_or_a_dashboard_is_scraped(scraped):
    named = {(name, where) for where, expr in expressions() for name in METRIC.findall(expr)}
    assert len(named) > 30
    missing = []
    for name, where in sorted(named):
        base = re.sub(r"_(bucket|sum|count)$", "", name)
        kind = scraped.get(name) or scraped.get(base)
        if kind is None or (name not in scraped and kind != "histogram"):
            missing.append(f"{name} ({where})")
    assert missing == []


def test_no_label_names_a_tenant_or_a_key(system):
    urls = system.metrics
    for url in (*urls["gateways"], urls["admin_api"], urls["reconciler"]):
        text = urllib.request.urlopen(url, timeout=10).read().decode()
        assert not re.search(r'="(t|k|p)_[0-9a-hjkmnp-tv-z]{26}"', text, re.IGNORECASE), url
        assert system.demo.key not in text
