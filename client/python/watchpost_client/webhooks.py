from collections.abc import Mapping, Sequence

from standardwebhooks import Webhook, WebhookVerificationError

from .events import Event, parse_event

__all__ = ["WebhookVerificationError", "verify_webhook"]


def verify_webhook(
    secret: str | Sequence[str], headers: Mapping[str, str], body: str | bytes
) -> tuple[str, Event]:
    """Verifies a webhook request (Standard Webhooks; at most five minutes old) and returns its `webhook-id` and event.

    `body` is the raw request body, before any parsing. `secret` is `whsec_…` of `GET /webhook-secret`; during a
    rotation pass both. Raises `WebhookVerificationError`: respond with status 400 and ignore the request.
    """
    named = {name.lower(): value for name, value in headers.items()}
    error = WebhookVerificationError("No secret given")
    for one in [secret] if isinstance(secret, str) else secret:
        webhook = Webhook(one)
        try:
            event = webhook.verify(body, named)
        # The library raises `ValueError` for a malformed signature or body.
        except (WebhookVerificationError, ValueError) as failed:
            error = WebhookVerificationError(str(failed))
        else:
            if not isinstance(event, dict) or "type" not in event or "data" not in event:
                raise WebhookVerificationError("The body is no Watchpost event")
            return named["webhook-id"], parse_event(event)
    raise error
