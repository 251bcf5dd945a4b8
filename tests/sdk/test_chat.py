"""Answers through the gateway."""


def chat(system, script):
    return {"model": system.model, "messages": [{"role": "user", "content": f"hello {script}"}]}


def test_a_plain_answer(system, openai_client):
    answer = openai_client(system.demo.key).chat.completions.create(**chat(system, "[[sim out=25]]"))
    assert answer.choices[0].message.content.startswith("The answer")
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.completion_tokens == 25


def test_a_streamed_answer_is_the_plain_one_in_pieces(system, openai_client):
    client = openai_client(system.demo.key)
    plain = client.chat.completions.create(**chat(system, "[[sim out=25 chunks=5]]"))
    chunks = list(client.chat.completions.create(**chat(system, "[[sim out=25 chunks=5]]"), stream=True))
    texts = [chunk.choices[0].delta.content for chunk in chunks]
    assert "".join(text or "" for text in texts) == plain.choices[0].message.content
    assert len([text for text in texts if text]) == 5
    assert chunks[-1].choices[0].finish_reason == "stop"


def test_usage_is_hidden_from_a_stream_that_did_not_ask_for_it(system, openai_client):
    before = system.last_served()
    client = openai_client(system.demo.key)
    chunks = list(client.chat.completions.create(**chat(system, "[[sim out=7]]"), stream=True))
    assert all(chunk.choices for chunk in chunks), "no chunk without choices"
    assert all(chunk.usage is None for chunk in chunks)
    (line,) = system.served(before)
    assert line["include_usage"], "the gateway asks the upstream all the same"
    assert line["usage"]["completion_tokens"] == 7


def test_usage_comes_with_a_stream_that_asked_for_it(system, openai_client):
    stream = openai_client(system.demo.key).chat.completions.create(
        **chat(system, "[[sim out=7]]"), stream=True, stream_options={"include_usage": True}
    )
    *others, last = list(stream)
    assert last.choices == []
    assert last.usage.completion_tokens == 7
    assert all(chunk.choices and chunk.usage is None for chunk in others)


def test_the_callers_key_stays_with_the_gateway(system, openai_client):
    before = system.last_served()
    openai_client(system.demo.key).chat.completions.create(**chat(system, ""))
    (line,) = system.served(before)
    assert system.demo.key not in str(line)


def test_fields_the_gateway_does_not_know_ride_along(system, openai_client):
    before = system.last_served()
    openai_client(system.demo.key).chat.completions.create(
        **chat(system, ""), temperature=0.25, extra_body={"x_unknown": {"deep": [1, None]}}
    )
    (line,) = system.served(before)
    assert '"x_unknown":{"deep":[1,null]}' in line["body"].replace(" ", "")
    assert '"temperature":0.25' in line["body"].replace(" ", "")


def test_the_models_of_the_key_are_listed(system, openai_client):
    client = openai_client(system.demo.key)
    models = list(client.models.list())
    assert system.model in [model.id for model in models]
    assert all(model.object == "model" for model in models)
    assert client.models.retrieve(system.model).id == system.model
