"""OpenAI's SDK on a model that is served in Anthropic's dialect only, and Anthropic's on one that is served in OpenAI's."""

import json

import anthropic
import openai
import pytest

from system import charge, charge_of_message

PRICES = {"input": "3", "cached_input": "0.30", "cache_write_5m": "3.75", "output": "15"}
SCHEMA = {"type": "object", "properties": {"input": {"type": "string"}}}
CACHED = "[[sim prompt=1000 cached=300 out=40]]"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@pytest.fixture(scope="module")
def claude(system):
    return system.new_model("anthropic-only", ["anthropic"], PRICES)


@pytest.fixture(scope="module")
def gpt(system):
    return system.new_model("openai-only", ["openai"], PRICES)


@pytest.fixture
def anthropic_client(system, sent):
    made = []

    def make(key):
        http = anthropic.DefaultHttpxClient(event_hooks=sent.hooks())
        made.append(anthropic.Anthropic(base_url=system.gateway, api_key=key, http_client=http))
        return made[-1]

    yield make
    for one in made:
        one.close()


def ask(text):
    return [{"role": "user", "content": text}]


# OpenAI's SDK.

FUNCTIONS = [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in ("look_up", "add")]


def test_a_chat_plain_and_streamed_is_charged_exactly(system, openai_client, claude):
    caller, before = system.new_caller("10.00"), system.last_served()
    client = openai_client(caller.key)
    request = {"model": claude, "messages": [{"role": "system", "content": "Be short."}, *ask(f"hello {CACHED}")]}
    plain = client.chat.completions.create(**request)
    assert plain.choices[0].finish_reason == "stop"
    assert (plain.usage.prompt_tokens, plain.usage.prompt_tokens_details.cached_tokens) == (1000, 300)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    *chunks, last = list(client.chat.completions.create(**request, **options))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == plain.choices[0].message.content
    assert chunks[-1].choices[0].finish_reason == "stop"
    assert last.choices == [] and last.usage == plain.usage
    silent = list(client.chat.completions.create(**request, stream=True))
    assert all(chunk.choices and chunk.usage is None for chunk in silent)
    cost = charge(system.price(claude), plain.usage)
    assert system.at_rest(caller, used=3 * cost)["remaining"] == 10 - 3 * cost
    lines = system.served(before)
    assert {line["path"] for line in lines} == {"/v1/messages"}
    assert json.loads(lines[0]["body"])["max_tokens"] == 16_384, "Anthropic needs a maximum"


def test_a_chat_calls_tools_at_once_and_gets_their_results(system, openai_client, claude):
    client = openai_client(system.demo.key)
    messages = ask("hello [[sim tools=2 out=5 chunks=3]]")
    plain = client.chat.completions.create(model=claude, messages=messages, tools=FUNCTIONS).choices[0]
    assert plain.finish_reason == "tool_calls"
    assert [call.function.name for call in plain.message.tool_calls] == ["look_up", "add"]
    with client.chat.completions.stream(model=claude, messages=messages, tools=FUNCTIONS) as stream:
        streamed = stream.get_final_completion().choices[0]
    assert streamed.finish_reason == "tool_calls"
    told = [(call.function.name, json.loads(call.function.arguments)) for call in streamed.message.tool_calls]
    assert told == [(call.function.name, json.loads(call.function.arguments)) for call in plain.message.tool_calls]
    results = [{"role": "tool", "tool_call_id": call.id, "content": "42"} for call in plain.message.tool_calls]
    before = system.last_served()
    history = [*messages, plain.message, *results, *ask("so? [[sim out=5]]")]
    answer = client.chat.completions.create(model=claude, messages=history, tools=FUNCTIONS, tool_choice="auto")
    assert answer.choices[0].finish_reason == "stop"
    (line,) = system.served(before)
    turns = json.loads(line["body"])["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "user"]
    assert [block["type"] for block in turns[2]["content"]] == ["tool_result", "tool_result", "text"]
    assert turns[2]["content"][0]["tool_use_id"] == turns[1]["content"][0]["id"]


def test_a_chat_shows_an_image(system, openai_client, claude):
    before = system.last_served()
    parts = [{"type": "text", "text": "what?"}, {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}]
    openai_client(system.demo.key).chat.completions.create(model=claude, messages=ask(parts))
    (line,) = system.served(before)
    source = json.loads(line["body"])["messages"][0]["content"][1]["source"]
    assert source == {"type": "base64", "media_type": "image/png", "data": PIXEL}


@pytest.mark.parametrize(
    "field, value",
    [("n", 2), ("logprobs", True), ("response_format", {"type": "json_object"}), ("seed", 7)],
)
def test_what_a_chat_cant_have_is_named(system, openai_client, sent, claude, field, value):
    before = system.last_served()
    with pytest.raises(openai.BadRequestError, match=f"`{field}`") as error:
        openai_client(system.demo.key).chat.completions.create(model=claude, messages=ask("hello"), **{field: value})
    assert (error.value.param, error.value.code) == (field, "invalid_field")
    assert (sent.attempts, system.served(before)) == (1, [])


def test_an_error_in_a_chats_stream_is_an_exception(system, openai_client, claude):
    script = "hello [[sim out=20 chunks=10 fault=error:3]]"
    with pytest.raises(openai.APIError, match="broke off"):
        list(openai_client(system.demo.key).chat.completions.create(model=claude, messages=ask(script), stream=True))


def test_a_chats_quota_ends_as_its_length(system, openai_client, claude):
    caller = system.new_caller("0.01000000")
    request = {"model": claude, "messages": ask("hello [[sim out=5000 chunks=500]]"), "stream": True}
    chunks = list(openai_client(caller.key).chat.completions.create(**request))
    assert chunks[-1].choices[0].finish_reason == "length"
    assert chunks[-1].model_extra["x_tollgate"] == {"stopped": "quota"}
    assert system.at_rest(caller)["remaining"] >= 0


# Anthropic's SDK.

TOOLS = [{"name": name, "input_schema": SCHEMA} for name in ("look_up", "add")]


def test_a_message_plain_and_streamed_is_charged_exactly(system, anthropic_client, gpt):
    caller, before = system.new_caller("10.00"), system.last_served()
    client = anthropic_client(caller.key)
    request = {"model": gpt, "max_tokens": 500, "system": "Be short.", "messages": ask(f"hello {CACHED}")}
    plain = client.messages.create(**request)
    with client.messages.stream(**request) as stream:
        streamed = stream.get_final_message()
    assert streamed.content[0].text == plain.content[0].text
    assert streamed.usage == plain.usage
    assert (plain.usage.input_tokens, plain.usage.cache_read_input_tokens, plain.usage.output_tokens) == (700, 300, 40)
    assert plain.stop_reason == streamed.stop_reason == "end_turn"
    cost = charge_of_message(system.price(gpt), plain.usage)
    assert system.at_rest(caller, used=2 * cost)["remaining"] == 10 - 2 * cost
    lines = system.served(before)
    assert {line["path"] for line in lines} == {"/v1/chat/completions"}
    assert lines[1]["include_usage"], "the gateway asks for the stream's usage"


def test_a_message_uses_tools_at_once_and_gets_their_results(system, anthropic_client, gpt):
    client = anthropic_client(system.demo.key)
    request = {"model": gpt, "max_tokens": 500, "tools": TOOLS}
    messages = ask("hello [[sim tools=2 out=5 chunks=3]]")
    plain = client.messages.create(**request, messages=messages)
    assert plain.stop_reason == "tool_use"
    assert [block.name for block in plain.content] == ["look_up", "add"]
    with client.messages.stream(**request, messages=messages) as stream:
        streamed = stream.get_final_message()
    assert streamed.stop_reason == "tool_use"
    assert [(block.name, block.input) for block in streamed.content] == [(block.name, block.input) for block in plain.content]
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "42"} for block in plain.content]
    before = system.last_served()
    history = [*messages, {"role": "assistant", "content": plain.content}, *ask([*results, {"type": "text", "text": "so? [[sim out=5]]"}])]
    answer = client.messages.create(**request, messages=history, tool_choice={"type": "auto", "disable_parallel_tool_use": True})
    assert answer.stop_reason == "end_turn"
    (line,) = system.served(before)
    body = json.loads(line["body"])
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "tool", "tool", "user"]
    assert body["messages"][2]["tool_call_id"] == body["messages"][1]["tool_calls"][0]["id"]
    assert body["parallel_tool_calls"] is False


def test_what_a_message_cant_have_is_named(system, anthropic_client, sent, gpt):
    before = system.last_served()
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "hello"}}
    for param, request in [
        ("thinking", {"thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": ask("hello")}),
        ("messages[0].content[0].type", {"messages": ask([document])}),
        ("tools[0].type", {"tools": [{"type": "web_search_20250305", "name": "web_search"}], "messages": ask("hello")}),
    ]:
        with pytest.raises(anthropic.BadRequestError) as error:
            anthropic_client(system.demo.key).messages.create(model=gpt, max_tokens=2000, **request)
        assert error.value.body["error"]["type"] == "invalid_request_error"
        assert error.value.body["error"]["param"] == param
    assert (sent.attempts, system.served(before)) == (3, [])


def test_an_upstream_that_fails_is_told_in_the_callers_dialect(system, anthropic_client, gpt):
    client = anthropic_client(system.demo.key).with_options(max_retries=0)
    request = {"model": gpt, "max_tokens": 500}
    with pytest.raises(anthropic.RateLimitError) as error:
        client.messages.create(**request, messages=ask("hello [[sim fault=status:429 retry_after=1]]"))
    assert error.value.body["error"]["type"] == "rate_limit_error"
    with pytest.raises(anthropic.APIStatusError, match="broke off"):
        with client.messages.stream(**request, messages=ask("hello [[sim out=20 chunks=10 fault=error:3]]")) as stream:
            stream.get_final_message()


def test_tokens_are_counted_with_and_without_a_target_that_counts(system, anthropic_client, gpt, claude):
    before = system.last_served()
    client = anthropic_client(system.demo.key)
    counts = [client.messages.count_tokens(model=model, messages=ask("hello there")).input_tokens for model in (gpt, claude)]
    assert counts[0] == counts[1]
    assert [line["path"] for line in system.served(before)] == ["/v1/messages/count_tokens"]
