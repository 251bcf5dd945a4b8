"""The simulated upstream is a provider that the real SDKs understand, on every route."""

import json

import anthropic
import openai
import pytest


def chat(script):
    return {"model": "sim-small", "messages": [{"role": "user", "content": f"hello {script}"}]}


def test_a_chat_plain_and_streamed(simulated_openai):
    plain = simulated_openai.chat.completions.create(**chat("[[sim out=30]]"))
    stream = simulated_openai.chat.completions.create(
        **chat("[[sim out=30]]"), stream=True, stream_options={"include_usage": True}
    )
    chunks = list(stream)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == plain.choices[0].message.content
    assert chunks[-1].usage == plain.usage
    assert plain.usage.completion_tokens == 30
    assert [chunk.choices[0].finish_reason for chunk in chunks[-2:-1]] == ["stop"]


def test_a_chat_calls_a_tool(simulated_openai):
    tool = {"type": "function", "function": {"name": "look_up", "parameters": {"type": "object", "properties": {}}}}
    with simulated_openai.chat.completions.stream(**chat("[[sim tool out=8]]"), tools=[tool]) as stream:
        streamed = stream.get_final_completion()
    plain = simulated_openai.chat.completions.create(**chat("[[sim tool out=8]]"), tools=[tool])
    for completion in (streamed, plain):
        assert completion.choices[0].finish_reason == "tool_calls"
        call = completion.choices[0].message.tool_calls[0].function
        assert call.name == "look_up"
        assert json.loads(call.arguments)["input"].startswith("The answer")


def test_completions(simulated_openai):
    plain = simulated_openai.completions.create(model="m", prompt="hello [[sim out=5]]", max_tokens=3)
    assert (plain.choices[0].finish_reason, plain.usage.completion_tokens) == ("length", 3)
    chunks = list(simulated_openai.completions.create(model="m", prompt="hello [[sim out=3]]", stream=True))
    assert "".join(chunk.choices[0].text for chunk in chunks) == plain.choices[0].text


def test_responses(simulated_openai):
    plain = simulated_openai.responses.create(model="m", input="hello [[sim out=9 reasoning=4]]")
    with simulated_openai.responses.stream(model="m", input="hello [[sim out=9 reasoning=4]]") as stream:
        kinds = [event.type for event in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed"
    assert final.output_text == plain.output_text
    assert final.usage == plain.usage
    assert plain.usage.output_tokens == 13
    assert plain.usage.output_tokens_details.reasoning_tokens == 4


def test_embeddings_and_images(simulated_openai):
    vectors = simulated_openai.embeddings.create(model="text-embedding-3-small", input=["one", "two"], dimensions=8)
    assert [len(item.embedding) for item in vectors.data] == [8, 8]
    assert vectors.usage.total_tokens == vectors.usage.prompt_tokens > 0
    images = simulated_openai.images.generate(model="gpt-image-1", prompt="a cat", n=2)
    assert len(images.data) == 2 and images.data[0].b64_json
    assert images.usage.total_tokens == images.usage.input_tokens + images.usage.output_tokens


def test_audio(simulated_openai):
    sound = simulated_openai.audio.speech.create(model="tts-1", voice="alloy", input="say", response_format="wav").read()
    assert sound[:4] == b"RIFF"
    text = simulated_openai.audio.transcriptions.create(model="gpt-4o-transcribe", file=("a.wav", sound), prompt="[[sim out=6]]")
    assert text.usage.output_tokens == 6
    old = simulated_openai.audio.transcriptions.create(model="whisper-1", file=("a.wav", sound))
    assert old.usage.seconds == 1


def test_models(simulated_openai):
    assert "gpt-4o-mini" in [model.id for model in simulated_openai.models.list()]


def test_a_message_plain_and_streamed(simulated_anthropic):
    body = {
        "model": "sim-large",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "hello [[sim out=30 cached=5]]"}],
    }
    plain = simulated_anthropic.messages.create(**body)
    with simulated_anthropic.messages.stream(**body) as stream:
        final = stream.get_final_message()
    assert final.content[0].text == plain.content[0].text
    assert final.usage.output_tokens == plain.usage.output_tokens == 30
    assert final.usage.input_tokens == plain.usage.input_tokens
    assert final.usage.cache_read_input_tokens == 5
    assert final.stop_reason == "end_turn"
    counted = simulated_anthropic.messages.count_tokens(model=body["model"], messages=body["messages"])
    assert counted.input_tokens == plain.usage.input_tokens + 5


def test_a_message_uses_a_tool(simulated_anthropic):
    body = {
        "model": "sim-large",
        "max_tokens": 100,
        "tools": [{"name": "look_up", "input_schema": {"type": "object", "properties": {}}}],
        "messages": [{"role": "user", "content": "[[sim tool out=8]]"}],
    }
    with simulated_anthropic.messages.stream(**body) as stream:
        final = stream.get_final_message()
    assert final.stop_reason == "tool_use"
    assert final.content[0].input["input"].startswith("The answer")


@pytest.mark.parametrize(
    ("status", "of_openai", "of_anthropic"),
    [
        (400, openai.BadRequestError, anthropic.BadRequestError),
        (401, openai.AuthenticationError, anthropic.AuthenticationError),
        (403, openai.PermissionDeniedError, anthropic.PermissionDeniedError),
        (404, openai.NotFoundError, anthropic.NotFoundError),
        (429, openai.RateLimitError, anthropic.RateLimitError),
        (503, openai.InternalServerError, anthropic.InternalServerError),
    ],
)
def test_errors(simulated_openai, simulated_anthropic, status, of_openai, of_anthropic):
    script = f"[[sim fault=status:{status}]]"
    with pytest.raises(of_openai) as caught:
        simulated_openai.with_options(max_retries=0).chat.completions.create(**chat(script))
    assert caught.value.status_code == status
    with pytest.raises(of_anthropic) as caught:
        simulated_anthropic.with_options(max_retries=0).messages.create(
            model="m", max_tokens=5, messages=[{"role": "user", "content": script}]
        )
    assert caught.value.status_code == status


def test_a_stream_that_breaks_is_an_error(simulated_openai):
    stream = simulated_openai.chat.completions.create(**chat("[[sim out=9 chunks=3 fault=reset:2]]"), stream=True)
    with pytest.raises(Exception, match="(?i)reset|read|connection|peer"):
        list(stream)
    stream = simulated_openai.chat.completions.create(**chat("[[sim out=9 chunks=3 fault=error:2]]"), stream=True)
    with pytest.raises(openai.APIError, match="broke off"):
        list(stream)
