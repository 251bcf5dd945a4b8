"""What is no chat, through the gateway: images, speech, transcriptions, embeddings, responses, rerank."""

import uuid
from decimal import ROUND_CEILING, Decimal

import openai
import pytest

from system import UNIT, call

# name, mode, the upstream's model, prices, the tokenizer
MODELS = {
    "painter": ("image", "dall-e-3", {"image": "0.04"}, "o200k_base"),
    "drawer": ("image", "gpt-image-1", {"input": "5", "output": "40"}, "o200k_base"),
    "reader": ("speech", "tts-1", {"input": "15", "output": "0"}, "characters"),
    "speaker": ("speech", "gpt-4o-mini-tts", {"input": "0.60", "audio_output": "12", "output": "12"}, "o200k_base"),
    "whisper": ("transcription", "whisper-1", {"input": "0", "audio_input": "10", "output": "0"}, "o200k_base"),
    "hearer": ("transcription", "gpt-4o-transcribe", {"input": "2.50", "audio_input": "6", "output": "10"}, "o200k_base"),
    "embedder": ("embedding", "text-embedding-3-small", {"input": "0.02"}, "o200k_base"),
    "ranker": ("rerank", "rerank-1", {"input": "0.013"}, "o200k_base"),
}


@pytest.fixture(scope="module")
def models(system):
    """Makes one model of each kind; their names here by those there."""
    upstream = system.get("/upstreams?limit=200")["items"][0]["id"]
    names = {}
    for name, (mode, served_by, prices, tokenizer) in MODELS.items():
        names[name] = f"sdk-{name}-{uuid.uuid4()}"
        body = {"name": names[name], "mode": mode, "tokenizer": tokenizer, "context_window": 128_000, "max_output_tokens": 0}
        model = system.post("/models", body)
        system.post(f"/models/{model['id']}/prices", prices | {"valid_from": "2025-01-01T00:00:00Z"})
        system.post(f"/models/{model['id']}/targets", {"upstream_id": upstream, "upstream_model": served_by})
    return names


@pytest.fixture
def caller(system):
    return system.new_caller("10.00")


@pytest.fixture
def client(caller, openai_client):
    return openai_client(caller.key)


def credits(**tokens):
    """What tokens cost at so many credits a million: `_5=100` is 100 tokens at 5."""
    exact = sum(count * Decimal(price[1:].replace("_", ".")) for price, count in tokens.items()) / 1_000_000
    return exact.quantize(UNIT, rounding=ROUND_CEILING)


def wav(seconds):
    head = b"RIFF\xff\xff\xff\xffWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\x00\x7d\0\0\x02\0\x10\0data\xff\xff\xff\xff"
    return head.ljust(32_000 * seconds, b"\0")


def test_images_each(system, models, caller, client):
    images = client.images.generate(model=models["painter"], prompt="a cat", n=2)
    assert len(images.data) == 2 and images.data[0].url
    system.at_rest(caller, used=Decimal("0.08"))


def test_images_by_tokens(system, models, caller, client):
    images = client.images.generate(model=models["drawer"], prompt="a cat", size="1024x1024", quality="low")
    assert images.data[0].b64_json
    system.at_rest(caller, used=credits(_5=images.usage.input_tokens, _40=images.usage.output_tokens))


def test_speech(system, models, caller, client):
    text = "Guten Tag, 世界"
    sound = client.audio.speech.create(model=models["reader"], voice="alloy", input=text, response_format="wav")
    assert sound.read().startswith(b"RIFF")
    assert sound.response.headers["content-type"] == "audio/wav"
    used = credits(_15=len(text))
    system.at_rest(caller, used=used)
    with client.audio.speech.with_streaming_response.create(
        model=models["speaker"], voice="alloy", input="[[sim out=50 chunks=5]]", stream_format="sse"
    ) as stream:
        assert "speech.audio.done" in "".join(stream.iter_text())
    spent = system.at_rest(caller)["used"] - used
    assert credits(_12=50) < spent < credits(_12=50, _0_60=100)


def test_transcriptions(system, models, caller, client):
    create = client.audio.transcriptions.create
    heard = create(model=models["hearer"], file=("a.wav", wav(3)), prompt="[[sim out=6]]")
    assert len(heard.text.split()) == 6
    details = heard.usage.input_token_details
    used = credits(_2_50=details.text_tokens, _6=details.audio_tokens, _10=heard.usage.output_tokens)
    system.at_rest(caller, used=used)
    old = create(model=models["whisper"], file=("a.wav", wav(90)))
    assert old.usage.seconds == 90
    used += Decimal("0.009")
    system.at_rest(caller, used=used)
    events = list(create(model=models["whisper"], file=("a.wav", wav(1)), stream=True, prompt="[[sim out=4 chunks=2]]"))
    assert events[-1].type == "transcript.text.done"
    used += Decimal("0.0001")
    system.at_rest(caller, used=used)
    assert create(model=models["whisper"], file=("a.wav", wav(1)), response_format="text").strip()


def test_embeddings(system, models, caller, client):
    answer = client.embeddings.create(model=models["embedder"], input=["hello", "world"])
    assert len(answer.data) == 2 and len(answer.data[0].embedding) == 1_536
    system.at_rest(caller, used=credits(_0_02=answer.usage.prompt_tokens))


def test_responses(system, caller, client):
    answer = client.responses.create(model=system.model, input="hello [[sim out=9]]")
    assert answer.output_text and answer.usage.output_tokens == 9
    price = system.price(system.model)
    per_million = answer.usage.input_tokens * price["input"] + 9 * price["output"]
    used = (per_million / 1_000_000).quantize(UNIT, rounding=ROUND_CEILING)
    system.at_rest(caller, used=used)
    *_, last = client.responses.create(model=system.model, input="hello [[sim out=9]]", stream=True)
    assert last.type == "response.completed"
    system.at_rest(caller, used=2 * used)


def test_rerank(system, models, caller):
    body = {"model": models["ranker"], "query": "a cat", "documents": ["the dog", "a cat sat"], "top_n": 1, "return_documents": True}
    status, headers, answer = call("POST", f"{system.gateway}/v1/rerank", caller.key, body)
    assert status == 200, answer
    assert headers["x-tollgate-model"] == models["ranker"]
    assert [result["document"]["text"] for result in answer["results"]] == ["a cat sat"]
    system.at_rest(caller, used=credits(_0_013=answer["usage"]["total_tokens"]))


@pytest.mark.parametrize("make", [
    lambda client, models: client.images.generate(model=models["painter"], prompt="a cat"),
    lambda client, models: client.audio.speech.create(model=models["reader"], voice="alloy", input="a" * 4_000),
    lambda client, models: client.audio.transcriptions.create(model=models["whisper"], file=("a.wav", wav(600))),
])
def test_what_the_quota_does_not_cover_is_refused(system, models, openai_client, sent, make):
    before = system.last_served()
    client = openai_client(system.new_caller("0.03").key)
    with pytest.raises(openai.RateLimitError) as error:
        make(client, models)
    assert error.value.code == "insufficient_quota"
    assert sent.attempts == 1
    assert system.served(before) == []
