import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
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
    last, path = after, f"/jobs/{quote(str(job_id), safe='')}/events"
    for event, _ in _follow_log(client, path, {}, str(after), max_failures, sleep, clock):
        # Skips events that the service repeats.
        if event["data"]["sequence"] > last:
            last = event["data"]["sequence"]
            yield parse_event(event)
        # Also of a job that ended before `after`, which the service sends from its beginning.
        if event["type"] == "job_stopped":
            return


def follow_watches(
    client: AuthenticatedClient,
    watch_id: UUID | str | None = None,
    *,
    after: str | None = None,
    types: Sequence[str] = (),
    max_failures: int = 10,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[tuple[Event, str]]:
    """Yields the events of a watch, or of all of the caller, each with its position, until the only one is deleted,
    also while the connection is broken.

    `after` is the position of the last event that was read. Without it the first event is `state`, with the watches;
    `"0"` starts at the first event that is kept. `types` selects events. Reopens and raises as `follow`.
    """
    path = "/watches/events" if watch_id is None else f"/watches/{quote(str(watch_id), safe='')}/events"
    # The deletion ends the iteration.
    query = {"types": ",".join([*types, "watch_changed"])} if types else {}
    for event, position in _follow_log(client, path, query, after, max_failures, sleep, clock):
        if not types or event["type"] in (*types, "state"):
            yield parse_event(event), position
        if watch_id is not None and event["data"].get("reason") == "deleted" and event["type"] == "watch_changed":
            return


def _follow_log(
    client: AuthenticatedClient,
    path: str,
    query: dict[str, str],
    position: str | None,
    max_failures: int,
    sleep: Callable[[float], None],
    clock: Callable[[], float],
) -> Iterator[tuple[dict[str, Any], str]]:
    last, failures = position, 0
    while True:
        resumed_after, opened_at = last, clock()
        error: Exception = ConnectionError("The service closes the event stream repeatedly")
        wait = 0.0
        try:
            for message in _read_connection(client, path, query, last):
                if message is None:
                    return
                last = message[1]
                yield message
            lasted = clock() - opened_at >= _LASTING_SECONDS
        except (httpx.TransportError, WatchpostError) as failed:
            if isinstance(failed, WatchpostError) and not failed.retryable:
                # It was deleted while the connection was broken, and its events with it.
                if failed.code == "WATCH_NOT_FOUND" and last != position:
                    return
                raise
            error, lasted = failed, False
            wait = failed.retry_after if isinstance(failed, WatchpostError) else 0.0
        failures = 1 if lasted or last != resumed_after else failures + 1
        if failures >= max_failures:
            raise error
        backoff = min(30.0, 0.5 * 2 ** (failures - 1)) * random.uniform(0.5, 1)
        sleep(max(wait, backoff))


def _read_connection(
    client: AuthenticatedClient, path: str, query: dict[str, str], last: str | None
) -> Iterator[tuple[dict[str, Any], str] | None]:
    """Yields the events of one connection with their ids, and None if the job has ended and its log was read."""
    position = {} if last is None else {"Last-Event-ID": last}
    request = client.get_httpx_client().stream(
        "GET",
        path,
        params=query,
        headers={"Accept": "text/event-stream", **position},
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
            yield event, message.id


def _to_error(response: httpx.Response) -> WatchpostError:
    error = WatchpostError(response.status_code, response.read())
    seconds = response.headers.get("Retry-After", "")
    # A date is not read: the service sends seconds.
    error.retry_after = float(seconds) if seconds.isdecimal() else 0.0
    return error
