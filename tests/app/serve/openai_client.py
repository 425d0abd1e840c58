#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""belfry-cli serve and OpenAI's own Python client. Not part of ctest, which has a client of its own
(tests/app/cli/tst_serve.cpp); needs a scratch environment outside the tree:

    python3 -m venv /tmp/openai && /tmp/openai/bin/pip install openai
    /tmp/openai/bin/python tests/app/serve/openai_client.py build/release/app/belfry-cli [REQUESTS]

Starts the server with the demo model and its adapter and checks: the list of models, whole answers
and streams, a picture and a sound, the adapter as a model, errors as the client's exceptions, the
same greedy tokens as belfry-cli chat gives with --precision f32; then REQUESTS (1000) over 50
connections of which every fifth is given up in the middle: each answer must be the one to its own
question, and memory must not grow (the slope of RSS over the last three quarters is told).
"""
import atexit
import base64
import concurrent.futures
import json
import pathlib
import signal
import subprocess
import sys
import time

import openai

SAMPLES = pathlib.Path(__file__).resolve().parents[3] / "resources/demo_model/samples"
QUESTIONS = ["What is a tower?", "What is a layer?", "Hello", "What is an adapter?"]


def encoded(name):
    return base64.b64encode((SAMPLES / name).read_bytes()).decode()


PICTURE = {"type": "image_url",
           "image_url": {"url": "data:image/png;base64," + encoded("triangles_and_cross.png")}}
SOUND = {"type": "input_audio",
         "input_audio": {"format": "wav", "data": encoded("three_beeps.wav")}}


def start(program, *options):
    process = subprocess.Popen([program, "serve", "demo", "--port", "0", "--json", *options],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    atexit.register(process.kill)  # also where a check fails
    text = ""
    while True:
        text += process.stdout.readline()
        try:
            told = json.loads(text)
            break
        except ValueError:
            assert process.poll() is None, process.stderr.read()
    client = openai.OpenAI(base_url=told["url"], api_key=told["token"], max_retries=60, timeout=600)
    return process, told, client


def asked(client, content, model="demo", **more):
    return client.chat.completions.create(
        model=model, temperature=0, messages=[{"role": "user", "content": content}], **more)


def text(name):
    return {"type": "text", "text": name}


def check_shapes(client, told):
    models = [model.id for model in client.models.list()]
    assert models == told["models"] == ["demo", "demo-adapter"], models
    assert client.models.retrieve("demo").id == "demo"

    whole = asked(client, QUESTIONS[0])
    assert whole.choices[0].finish_reason == "stop"
    stream = asked(client, QUESTIONS[0], stream=True, stream_options={"include_usage": True})
    chunks = list(stream)
    joined = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert joined == whole.choices[0].message.content, joined
    assert chunks[-1].usage.completion_tokens == whole.usage.completion_tokens
    print("whole and stream:", joined)

    seen = asked(client, [PICTURE, SOUND, text("What do you see and hear?")])
    print("picture and sound:", seen.choices[0].message.content)
    assert "triangle" in seen.choices[0].message.content
    assert "beep" in seen.choices[0].message.content
    adapted = asked(client, [PICTURE, text("What do you see?")], model="demo-adapter")
    print("adapter:", adapted.choices[0].message.content)

    first = asked(client, QUESTIONS[0])
    second = client.chat.completions.create(model="demo", temperature=0, messages=[
        {"role": "user", "content": QUESTIONS[0]},
        {"role": "assistant", "content": first.choices[0].message.content},
        {"role": "user", "content": QUESTIONS[1]}])
    print("kept between turns:", second.usage.prompt_tokens_details.cached_tokens, "of",
          second.usage.prompt_tokens, "tokens")
    assert second.usage.prompt_tokens_details.cached_tokens >= first.usage.total_tokens - 2

    likely = asked(client, QUESTIONS[0], logprobs=True, top_logprobs=2)
    tokens = likely.choices[0].logprobs.content
    assert "".join(t.token for t in tokens) == likely.choices[0].message.content
    stopped = asked(client, QUESTIONS[0], stop=["model"])
    assert "model" not in stopped.choices[0].message.content
    completed = client.completions.create(model="demo", prompt="A tower is", max_tokens=5)
    assert completed.usage.completion_tokens <= 5


def check_tools(client):
    """The demo model was not taught to call: what it is told and asked has to pass through."""
    tools = [{"type": "function", "function": {
        "name": "get_weather", "description": "Current weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}},
                       "required": ["city"]}}}]
    ask = [{"role": "user", "content": "Weather in Paris?"}]
    told = client.chat.completions.create(model="demo", temperature=0, messages=ask, tools=tools,
                                          max_tokens=20)
    plain = client.chat.completions.create(model="demo", temperature=0, messages=ask, max_tokens=20)
    assert told.usage.prompt_tokens > plain.usage.prompt_tokens + 20
    call = {"id": "call_1", "type": "function",
            "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}
    more = client.chat.completions.create(
        model="demo", temperature=0, tools=tools, max_tokens=20, stream=True,
        messages=[*ask, {"role": "assistant", "content": None, "tool_calls": [call]},
                  {"role": "tool", "tool_call_id": "call_1", "content": "18 C"}])
    reason = [c.choices[0].finish_reason for c in more if c.choices][-1]
    assert reason in ("stop", "length", "tool_calls"), reason
    print("tools: told with", told.usage.prompt_tokens - plain.usage.prompt_tokens, "tokens")


def check_errors(client):
    def raises(kind, call):
        try:
            call()
        except kind as problem:
            return problem
        raise AssertionError(f"expected {kind.__name__}")

    problem = raises(openai.NotFoundError, lambda: asked(client, "Hi", model="gpt"))
    assert problem.code == "model_not_found", problem
    raises(openai.AuthenticationError, lambda: asked(client.with_options(api_key="wrong"), "Hi"))
    problem = raises(openai.BadRequestError, lambda: asked(client, "Hi", n=2))
    assert problem.param == "n", problem
    problem = raises(openai.BadRequestError, lambda: asked(client, "word " * 4000))
    assert problem.code == "context_length_exceeded", problem
    raises(openai.BadRequestError, lambda: asked(client, [
        {"type": "image_url", "image_url": {"url": "http://127.0.0.1:1/a.png"}}, text("?")]))
    print("errors: as the client's exceptions")


def check_same_tokens(program):
    process, _, client = start(program, "--precision", "f32")
    for picture, sound, question in [(0, 0, QUESTIONS[0]), (1, 0, "What do you see?"),
                                     (0, 1, "What do you hear?"),
                                     (1, 1, "What do you see and hear?")]:
        words = [program, "chat", "demo", "--precision", "f32", "--temperature", "0", "--json",
                 "--prompt", question]
        words += ["--image", str(SAMPLES / "triangles_and_cross.png")] * picture
        words += ["--audio", str(SAMPLES / "three_beeps.wav")] * sound
        local = json.loads(subprocess.run(words, capture_output=True, check=True).stdout)
        served = asked(client, [PICTURE] * picture + [SOUND] * sound + [text(question)],
                       logprobs=True)
        assert served.choices[0].message.content == local["reply"], (served, local)
        assert served.usage.completion_tokens == len(local["token_ids"])
        assert served.usage.prompt_tokens == len(local["input_ids"])
    print("f32, greedy: chat and serve give the same tokens")
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0


def rss_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0


def slope(points):
    """Least squares, per x."""
    n = len(points)
    mean_x = sum(x for x, _ in points) / n
    mean_y = sum(y for _, y in points) / n
    return (sum((x - mean_x) * (y - mean_y) for x, y in points) /
            sum((x - mean_x) ** 2 for x, _ in points))


def check_many(process, client, count):
    expected = {q: asked(client, q).choices[0].message.content for q in QUESTIONS}
    done = []

    def one(number):
        question = QUESTIONS[number % len(QUESTIONS)]
        is_aborted = number % 5 == 0
        stream = asked(client, question, stream=True)
        got = ""
        for chunk in stream:
            got += chunk.choices[0].delta.content or ""
            if is_aborted and got:
                stream.close()
                break
        assert expected[question].startswith(got) if is_aborted else got == expected[question], got
        done.append((len(done), rss_kib(process.pid)))

    begun = time.time()
    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        for outcome in [pool.submit(one, number) for number in range(count)]:
            outcome.result()
    late = done[len(done) // 4:]
    print(f"{count} requests over 50 connections, {count // 5} given up: "
          f"{time.time() - begun:.0f} s; RSS {late[0][1]} KiB -> {late[-1][1]} KiB, "
          f"{slope(late) * 1000:.0f} KiB per 1000 requests")


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    process, told, client = start(program, "--adapter", "demo", "--context", "1024")
    check_shapes(client, told)
    check_tools(client)
    check_errors(client)
    check_many(process, client, count)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    check_same_tokens(program)
    print("all as it should be")


if __name__ == "__main__":
    main()
