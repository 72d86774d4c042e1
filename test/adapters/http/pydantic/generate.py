"""Writes expected.json: what FastAPI with Pydantic answers to requests that do not fit the interface, and to some that do.

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install fastapi pydantic httpx
    /tmp/venv/bin/python test/adapters/http/pydantic/generate.py
    npx prettier --write test/adapters/http/pydantic/expected.json
"""

import json
import platform
from enum import Enum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Optional
from uuid import UUID

from fastapi import FastAPI, Query
from fastapi.testclient import TestClient
from pydantic import BaseModel, Field

app = FastAPI()

StreamUrl = Annotated[str, Field(min_length=1, max_length=500)]
Condition = Annotated[str, Field(min_length=1, max_length=1000)]
WebhookUrl = Annotated[Optional[str], Field(min_length=1, max_length=2083)]
InputMode = Enum('InputMode', {name: name for name in ['frames', 'clip', 'hybrid']}, type=str)
JobStatus = Enum(
    'JobStatus', {name: name for name in ['pending', 'running', 'stopped', 'completed', 'failed']}, type=str
)
JobType = Enum('JobType', {name: name for name in ['live-monitor', 'live-digest']}, type=str)


class CheckOnce(BaseModel):
    stream_url: StreamUrl
    condition: Condition
    include_frame: bool = False
    input_mode: InputMode = InputMode.frames
    clip_duration_seconds: int = Field(3, ge=1, le=10)


class LiveMonitor(BaseModel):
    stream_url: StreamUrl
    condition: Condition
    webhook_url: WebhookUrl = None
    interval_seconds: int = Field(10, ge=5, le=300)
    input_mode: InputMode = InputMode.clip
    clip_duration_seconds: int = Field(3, ge=1, le=10)
    monitor_duration_seconds: int = Field(600, ge=5)
    trigger_cooldown_seconds: int = Field(0, ge=0, le=3600)
    max_triggers: Optional[Annotated[int, Field(ge=1)]] = 1
    enable_prefilter: bool = True


class LiveDigest(BaseModel):
    stream_url: StreamUrl
    window_minutes: int = Field(10, ge=1, le=60)
    webhook_url: WebhookUrl = None
    capture_interval_seconds: int = Field(60, ge=10, le=300)
    max_windows: Optional[Annotated[int, Field(ge=1)]] = None
    include_frames: bool = False
    enable_prefilter: bool = True


class ValidateStream(BaseModel):
    stream_url: StreamUrl


class AnalyzeFrame(BaseModel):
    frame_b64: str = Field(min_length=1)
    question: Condition
    include_frame: bool = False


@app.post('/check-once')
def check_once(body: CheckOnce): ...


@app.post('/live-monitor')
def live_monitor(body: LiveMonitor): ...


@app.post('/live-digest')
def live_digest(body: LiveDigest): ...


@app.post('/streams/validate')
def validate_stream(body: ValidateStream): ...


@app.post('/analyze-frame')
def analyze_frame(body: AnalyzeFrame): ...


@app.get('/jobs')
def jobs(
    status: Optional[JobStatus] = None,
    job_type: Optional[JobType] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
    offset: Annotated[int, Query(ge=0)] = 0,
): ...


@app.get('/jobs/{job_id}')
def job(job_id: UUID): ...


client = TestClient(app)
cases = []


def ask(method, path, body='', content_type='application/json'):
    headers = {'content-type': content_type} if content_type else {}
    answer = client.request(method, path, content=body.encode(), headers=headers)
    case = {'method': method, 'path': path, 'contentType': content_type, 'body': body, 'status': answer.status_code}
    if answer.status_code == 422:
        case['detail'] = [
            {name: entry[name] for name in ['type', 'loc', 'msg', 'ctx'] if name in entry}
            for entry in answer.json()['detail']
        ]
    cases.append(case)


def post(path, **fields):
    ask('POST', path, json.dumps(fields, ensure_ascii=False))


def field(path, name, *values, **others):
    for value in values:
        post(path, **{**others, name: value})


url = 'https://example.com/live.m3u8'
watch = {'stream_url': url, 'condition': 'a ship enters the lock'}

for path in ['/check-once', '/live-monitor', '/live-digest', '/streams/validate', '/analyze-frame']:
    post(path)
field('/streams/validate', 'stream_url', '', 'x' * 501, 7, None, True, [url], {'url': url}, 1.5)
field('/check-once', 'condition', '', 'x' * 1001, '😀' * 1001, 'é' * 1000, 3, **watch)
field('/check-once', 'include_frame', 'maybe', '', 2, -1, 0.5, None, [], {}, 'TRUE', 'false', **watch)
field('/check-once', 'input_mode', 'video', 'Frames', '', None, 1, ['clip'], **watch)
field('/check-once', 'clip_duration_seconds', 0, 11, '0', '11', 2.5, 'two', '', None, [], {}, **watch)
field('/check-once', 'clip_duration_seconds', '3', ' 3 ', '+3', '3.0', 3.0, '03', **watch)
field('/live-monitor', 'webhook_url', '', 'x' * 2084, 5, None, **watch)
field('/live-monitor', 'interval_seconds', 4, 301, 9007199254740993, -9007199254740993, 10**30, '9' * 30, **watch)
field('/live-monitor', 'monitor_duration_seconds', 4, -1, '1e3', '10 seconds', '1.5', **watch)
field('/live-monitor', 'trigger_cooldown_seconds', -1, 3601, 0, **watch)
field('/live-monitor', 'max_triggers', 0, 'many', 1.5, None, '2', **watch)
field('/live-monitor', 'enable_prefilter', 'off course', 7, **watch)
field('/live-digest', 'window_minutes', 0, 61, stream_url=url)
field('/live-digest', 'capture_interval_seconds', 9, 301, stream_url=url)
field('/live-digest', 'max_windows', 0, None, 'two', stream_url=url)
field('/live-digest', 'include_frames', 'sometimes', stream_url=url)
field('/analyze-frame', 'frame_b64', '', 5, None, question='What is it?')
field('/analyze-frame', 'question', '', 'x' * 1001, None, frame_b64='AAAA')
post('/live-monitor', stream_url='', condition=7, interval_seconds='x', input_mode='y', enable_prefilter='z')
post('/live-monitor', **watch, colour='green', __proto__={'stream_url': 1})

texts = ['', ' ', '{', '{"a"', '{"a":', '{"a":1', '{"a":1,', '{"a":1,}', '{a:1}', "{'a':1}", '{,}', '{1:2}', '{"a" 1}']
texts += ['{"a":1 "b":2}', '{"a":[1,2', '[', '[[', '[1,]', '[1 2]', '[]]', '{} {}', '{}x', 'nul', 'True', '+1']
texts += ['{"a":01}', '{"a":.5}', '{"a":1.}', '{"a":-}', '{"a":1e}', '{"a":tru}', '{"a":"x', '{"a":"\x01"}', '{"a":"x\ny"}']
texts += ['{"a":"\\q"}', '{"a":"\\u12"}', '{"a":"\\ud83"}', '{"a":"\\', '{"é😀":1,}', '[1]', '"text"', '1', 'null', '\ufeff{}']
for text in texts:
    ask('POST', '/streams/validate', text)
for content_type in [None, 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', 'application/json;']:
    ask('POST', '/streams/validate', '{"stream_url":1}', content_type)
for content_type in ['application/JSON; charset=utf-8', 'application/vnd.stream+json']:
    ask('POST', '/streams/validate', '{"stream_url":1}', content_type)

queries = ['limit=0', 'limit=101', 'limit=', 'limit=ten', 'limit=1.5', 'limit=true', 'limit=1&limit=x', 'limit=x&limit=1']
queries += ['limit=+5', 'limit=%35', 'limit=5.0', 'offset=-1', 'offset=x', 'status=lost', 'status=', 'job_type=video']
queries += ['status=running&job_type=live-digest', 'colour=green', '__proto__=1', 'limit=0&offset=-1&status=x']
for query in queries:
    ask('GET', f'/jobs?{query}', content_type=None)

one = '11111111-1111-1111-1111-111111111111'
ids = ['nonsense', one[:-1], one + '1', one.replace('-', ''), one[:23], '1111', '-----', 'é', '%F0%9F%98%80', '1' * 33]
ids += ['11111111-11111-111-1111-111111111111', one.replace('1', 'g'), one[:-1] + 'g', '%00', one.upper()]
for job_id in ids:
    ask('GET', f'/jobs/{job_id}', content_type=None)

made_with = {'python': platform.python_version()}
made_with |= {name: version(name) for name in ['fastapi', 'pydantic', 'pydantic_core']}
target = Path(__file__).with_name('expected.json')
target.write_text(json.dumps({'made_with': made_with, 'cases': cases}, ensure_ascii=True, indent=1) + '\n')
print(len(cases), 'cases', made_with)
