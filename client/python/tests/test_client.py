"""Tests of the wheel against a running service, by `test/client/python.test.ts`."""

import json
import os
import queue
import threading
from datetime import UTC
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest
from standardwebhooks import Webhook
from watchpost_client import (
    UnknownEvent,
    WatchpostError,
    WebhookVerificationError,
    connect,
    follow,
    follow_watches,
    verify_webhook,
)
from watchpost_client.api.jobs import cancel_job, job_frame, list_jobs, live_monitor
from watchpost_client.api.operations import service
from watchpost_client.api.watches import create_watch, delete_watch, pause_watch
from watchpost_client.api.webhooks import get_webhook_secret
from watchpost_client.api.webhooks import test_webhook as send_test
from watchpost_client.events import parse_event
from watchpost_client.models import MonitorRequest, WatchRequest, WebhookTestRequest

BASE_URL, KEY, STREAM_URL = (os.environ[name] for name in ("BASE_URL", "WATCHPOST_API_KEY", "STREAM_URL"))


@pytest.fixture
def watchpost():
    with connect(BASE_URL, KEY) as client:
        yield client


def test_a_monitor_is_followed_through_broken_connections_to_its_end(watchpost):
    request = MonitorRequest(
        stream_url=STREAM_URL, condition="The picture is black", input_mode="frames", interval_seconds=5
    )
    job = live_monitor.sync(client=watchpost, body=request)
    seen = []
    with connect(os.environ["PROXY_URL"], KEY) as through_proxy:
        for event in follow(through_proxy, job.job_id, sleep=lambda _: None):
            seen.append((event.data.sequence, event.type_))
            if event.data.sequence == 3:
                assert job_frame.sync(client=watchpost, job_id=job.job_id).payload.read(2) == b"\xff\xd8"
                assert cancel_job.sync(client=watchpost, job_id=job.job_id).status == "stopped"
    assert seen == [(1, "job_started"), (2, "progress"), (3, "progress"), (4, "job_stopped")]
    assert job.job_id in [one.job_id for one in list_jobs.sync(client=watchpost, limit=5).jobs]


def create_yard(watchpost):
    condition = {"condition": "The picture is not black", "checks_to_open": 1}
    body = {"name": "Yard", "stream_url": STREAM_URL, "conditions": [condition], "interval_seconds": 5}
    return create_watch.sync(client=watchpost, body=WatchRequest.from_dict(body))


def test_watches_are_followed_through_broken_connections_until_the_only_one_is_deleted(watchpost):
    watch = create_yard(watchpost)
    seen = []
    with connect(os.environ["PROXY_URL"], KEY) as through_proxy:
        for event, position in follow_watches(through_proxy, watch.watch_id, after="0", sleep=lambda _: None):
            seen.append(event.data.reason if event.type_ == "watch_changed" else event.type_)
            assert position == str(event.data.sequence)
            if event.type_ == "alert_opened":
                pause_watch.sync(client=watchpost, watch_id=watch.watch_id)
            if seen[-1] == "paused":
                # All watches from here: the position of one log is not that of all.
                state, _ = next(follow_watches(watchpost))
                assert [one.watch_id for one in state.data.watches] == [watch.watch_id]
                chosen = follow_watches(watchpost, watch.watch_id, after="0", types=["alert_opened", "alert_closed"])
                assert [next(chosen)[0].type_, next(chosen)[0].type_] == ["alert_opened", "alert_closed"]
                delete_watch.sync(client=watchpost, watch_id=watch.watch_id)
    # The last event is missing if the connection breaks at that moment.
    assert seen[0] == "created" and "deleted" not in seen[:-1]
    assert {"progress", "alert_opened", "alert_closed", "paused"} < {*seen}


def test_following_ends_when_the_watch_is_deleted_while_the_connection_is_broken(watchpost):
    watch = create_yard(watchpost)

    def delete(_):
        delete_watch.sync(client=watchpost, watch_id=watch.watch_id)

    with connect(os.environ["PROXY_URL"], KEY) as through_proxy:
        seen = [event.type_ for event, _ in follow_watches(through_proxy, watch.watch_id, after="0", sleep=delete)]
    assert seen[0] == "watch_changed"


def test_an_error_response_is_an_exception_with_code_and_remediation(watchpost):
    unknown = "00000000-0000-4000-8000-000000000000"
    for call in (
        lambda: next(follow(watchpost, unknown)),
        lambda: job_frame.sync(client=watchpost, job_id=unknown),
    ):
        with pytest.raises(WatchpostError) as raised:
            call()
        assert (raised.value.code, raised.value.status_code, raised.value.retryable) == (
            "JOB_NOT_FOUND",
            404,
            False,
        )
        assert raised.value.remediation
    with pytest.raises(WatchpostError, match="body.condition") as raised:
        live_monitor.sync(client=watchpost, body=MonitorRequest(stream_url=STREAM_URL, condition=""))
    assert raised.value.code == "VALIDATION_ERROR"
    with connect(BASE_URL, "wp_wrong") as stranger, pytest.raises(WatchpostError) as raised:
        service.sync(client=stranger)
    assert raised.value.code == "UNAUTHORIZED"
    with (
        connect(BASE_URL.removesuffix("/api") + "/nowhere", KEY) as astray,
        pytest.raises(WatchpostError) as raised,
    ):
        service.sync(client=astray)
    assert raised.value.code in ("UNEXPECTED_ANSWER", "NOT_FOUND")


def test_a_webhook_of_the_service_is_verified(watchpost):
    received = queue.Queue()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            received.put((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        send_test.sync(client=watchpost, body=WebhookTestRequest(webhook_url=url))
        server.shutdown()
    headers, body = received.get(timeout=10)
    secret = get_webhook_secret.sync(client=watchpost).secret
    other = "whsec_" + "A" * 43 + "="

    for secrets in (secret, [other, secret], [secret, other]):
        webhook_id, event = verify_webhook(secrets, headers, body)
        assert (webhook_id, event.type_) == (headers["webhook-id"], "test")
    upper = {name.upper(): value for name, value in headers.items()}
    assert verify_webhook(secret, upper, body.decode())[1].type_ == "test"
    for changed in (
        (other, headers, body),
        ([], headers, body),
        (secret, headers, body + b" "),
        (secret, headers, b"\xff"),
        (secret, {}, body),
        *(
            (secret, {**headers, "webhook-signature": wrong}, body)
            for wrong in ("", "v1", "v1,é", "v1,=", "v2," + "A" * 44, "v1,a,b")
        ),
        *((secret, {**headers, "webhook-timestamp": wrong}, body) for wrong in ("", "0", "nan", "1e400")),
    ):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(*changed)


def test_a_signed_body_that_is_no_event_is_rejected():
    from datetime import datetime

    secret = "whsec_" + "A" * 43 + "="
    now = datetime.now(UTC)
    for body in ("[]", "{}", "no JSON"):
        signature = Webhook(secret).sign("msg_1", now, body)
        headers = {
            "webhook-id": "msg_1",
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signature,
        }
        with pytest.raises(WebhookVerificationError):
            verify_webhook(secret, headers, body)


def test_every_event_of_the_document_has_a_model():
    with open(os.environ["OPENAPI"]) as file:
        schemas = json.load(file)["components"]["schemas"]
    types = {schema.get("properties", {}).get("type", {}).get("const") for schema in schemas.values()}
    assert {"alert_clip", "state"} < types
    for type_ in types - {None}:
        with pytest.raises(KeyError, match="data|timestamp|source_url"):
            parse_event({"type": type_})


def test_an_event_and_a_value_of_a_newer_service_are_no_errors():
    assert parse_event({"type": "new", "data": {"sequence": 1}}) == UnknownEvent("new", {"sequence": 1})
    data = {"job_id": "00000000-0000-4000-8000-000000000000", "sequence": 2, "reason": "new", "new": 1}
    stopped = {"type": "job_stopped", "timestamp": "2026-01-01T00:00:00.000Z", "source_url": "", "data": data}
    required = os.environ["JOB_STOPPED"]
    merged = {**stopped, "data": {**json.loads(required)["data"], **data}}
    assert parse_event(merged).data.reason == "new"


def message(sequence, type_="job_stopped"):
    data = {**json.loads(os.environ["JOB_STOPPED"])["data"], "sequence": sequence}
    event = {**json.loads(os.environ["JOB_STOPPED"]), "data": data}
    return f"id: {sequence}\ndata: {json.dumps(event if type_ == 'job_stopped' else {'type': type_, 'data': data})}\n\n"


def scripted(*answers):
    """Returns a client whose n-th connection gets the n-th answer, and the `Last-Event-ID` of each."""
    resumed, left = [], list(answers)

    def handle(request):
        resumed.append(request.headers["Last-Event-ID"])
        status, body = left.pop(0) if left else (500, "")
        if status == 0:
            raise httpx.ReadTimeout("silent")
        headers = {"Content-Type": "text/event-stream" if status == 200 else "application/json"}
        return httpx.Response(status, headers={**headers, "Retry-After": "7"}, text=body)

    client = connect("http://127.0.0.1/api", KEY)
    transport = httpx.MockTransport(handle)
    return client.set_httpx_client(
        httpx.Client(base_url="http://127.0.0.1/api", transport=transport)
    ), resumed


def error(code):
    return json.dumps({"error": {"code": code, "message": code, "remediation": ""}})


def test_follow_yields_each_event_once_across_broken_refused_and_repeating_streams():
    pauses = []
    client, resumed = scripted(
        (200, ": heartbeat\n\n" + message(1, "new") + message(2, "new")[:20]),
        (0, ""),
        (429, error("RATE_LIMITED")),
        (200, message(1, "new") + message(2, "new")),
        (200, message(3)),
    )
    assert [
        event.data["sequence"] if isinstance(event, UnknownEvent) else event.data.sequence
        for event in follow(client, "ID", sleep=pauses.append)
    ] == [1, 2, 3]
    assert resumed == ["0", "1", "1", "1", "2"]
    assert max(pauses) == 7


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        ([(404, error("JOB_NOT_FOUND"))], "JOB_NOT_FOUND"),
        ([(200, f"data: {error('UNAUTHORIZED')}\n\n")], "UNAUTHORIZED"),
    ],
)
def test_follow_raises_a_permanent_error_without_retries(answers, code):
    client, resumed = scripted(*answers)
    with pytest.raises(WatchpostError) as raised:
        list(follow(client, "ID", sleep=lambda _: None))
    assert (raised.value.code, len(resumed)) == (code, 1)


def test_follow_ends_with_a_log_that_was_read():
    client, _ = scripted((204, ""))
    assert list(follow(client, "ID", after=9)) == []


def test_follow_raises_after_ten_connections_without_an_event_and_counts_no_long_session():
    client, resumed = scripted((200, message(1, "new")))
    with pytest.raises(WatchpostError):
        list(follow(client, "ID", sleep=lambda _: None))
    assert len(resumed) == 10
    times = iter(range(0, 10_000, 31))
    client, resumed = scripted(*[(200, ": heartbeat\n\n")] * 12, (200, message(1)))
    assert len(list(follow(client, "ID", sleep=lambda _: None, clock=lambda: next(times)))) == 1
    client, resumed = scripted(*[(200, "")] * 12)
    with pytest.raises(ConnectionError):
        list(follow(client, "ID", sleep=lambda _: None, clock=lambda: 0))
