import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote
from uuid import UUID

import httpx
from httpx_sse import EventSource

from .client import AuthenticatedClient
from .errors import WatchpostError
from .events import Event, parse_event

# The service sends a comment every 15 s.
_SILENCE_SECONDS = 45
# A session of this duration without events is no failure.
_LASTING_SECONDS = 30


def follow(
    client: AuthenticatedClient,
    job_id: UUID | str,
    *,
    after: int = 0,
    max_failures: int = 10,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Event]:
    """Yields the events of a job in order, each once, after sequence `after` until `job_stopped`.

    Reopens a broken, closed or silent connection after the last event. Raises `WatchpostError` for a permanent error
    (unknown job, revoked key), and the last error after `max_failures` consecutive connections without an event.
    """
    last, failures = after, 0
    while True:
        resumed_after, opened_at = last, clock()
        error: Exception = ConnectionError("The service closes the event stream repeatedly")
        wait = 0.0
        try:
            for event in _read_connection(client, job_id, last):
                if event is None:
                    return
                # Skips events that the service repeats.
                if event["data"]["sequence"] > last:
                    last = event["data"]["sequence"]
                    yield parse_event(event)
                # Also of a job that ended before `after`, which the service sends from its beginning.
                if event["type"] == "job_stopped":
                    return
            lasted = clock() - opened_at >= _LASTING_SECONDS
        except (httpx.TransportError, WatchpostError) as failed:
            if isinstance(failed, WatchpostError) and not failed.retryable:
                raise
            error, lasted = failed, False
            wait = failed.retry_after if isinstance(failed, WatchpostError) else 0.0
        failures = 1 if lasted or last > resumed_after else failures + 1
        if failures >= max_failures:
            raise error
        backoff = min(30.0, 0.5 * 2 ** (failures - 1)) * random.uniform(0.5, 1)
        sleep(max(wait, backoff))


def _read_connection(
    client: AuthenticatedClient, job_id: UUID | str, last: int
) -> Iterator[dict[str, Any] | None]:
    """Yields the events of one connection, and None if the job has ended and its log was read."""
    request = client.get_httpx_client().stream(
        "GET",
        f"/jobs/{quote(str(job_id), safe='')}/events",
        headers={"Accept": "text/event-stream", "Last-Event-ID": str(last)},
        timeout=_SILENCE_SECONDS,
    )
    with request as response:
        if response.status_code == 204:
            yield None
            return
        if response.status_code != 200:
            raise _to_error(response)
        for message in EventSource(response).iter_sse():
            # The reconnection time alone is a message too.
            if not message.data:
                continue
            # An error of the connection, such as a revoked key, is no event.
            event = json.loads(message.data)
            if "type" not in event:
                raise WatchpostError(401, message.data.encode())
            yield event


def _to_error(response: httpx.Response) -> WatchpostError:
    error = WatchpostError(response.status_code, response.read())
    seconds = response.headers.get("Retry-After", "")
    # A date is not read: the service sends seconds.
    error.retry_after = float(seconds) if seconds.isdecimal() else 0.0
    return error
