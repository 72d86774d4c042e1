from typing import Any

from attrs import frozen

from . import models


@frozen
class UnknownEvent:
    """Event of a type that a newer service has."""

    type_: str
    data: dict[str, Any]


Event = (
    models.JobStarted
    | models.Progress
    | models.WatchTriggeredWithPicture
    | models.SummaryGeneratedWithPicture
    | models.ErrorEvent
    | models.JobStopped
    | models.TestEvent
    | models.AlertOpened
    | models.AlertReminder
    | models.AlertAcknowledged
    | models.AlertClosed
    | models.AlertClip
    | models.StreamLost
    | models.StreamRecovered
    | models.WatchChanged
    | models.WatchProgress
    | models.State
    | UnknownEvent
)

_TYPES = {
    "job_started": models.JobStarted,
    "progress": models.Progress,
    "watch_triggered": models.WatchTriggeredWithPicture,
    "summary_generated": models.SummaryGeneratedWithPicture,
    "error": models.ErrorEvent,
    "job_stopped": models.JobStopped,
    "test": models.TestEvent,
    "alert_opened": models.AlertOpened,
    "alert_reminder": models.AlertReminder,
    "alert_acknowledged": models.AlertAcknowledged,
    "alert_closed": models.AlertClosed,
    "alert_clip": models.AlertClip,
    "stream_lost": models.StreamLost,
    "stream_recovered": models.StreamRecovered,
    "watch_changed": models.WatchChanged,
    "state": models.State,
}


def parse_event(event: dict[str, Any]) -> Event:
    """Returns the event as a model with `type_`, `timestamp` and `data`."""
    is_watch_progress = event["type"] == "progress" and "watch_id" in event["data"]
    model = models.WatchProgress if is_watch_progress else _TYPES.get(event["type"])
    return model.from_dict(event) if model else UnknownEvent(event["type"], event["data"])
