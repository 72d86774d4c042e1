import httpx

from .client import AuthenticatedClient


def connect(base_url: str, api_key: str, timeout: float = 90) -> AuthenticatedClient:
    """Returns a client for the functions of `watchpost_client.api`, which raise `WatchpostError` for an error response.

    `timeout` is that of a request, in seconds: a check waits for the stream and the model.
    """
    return AuthenticatedClient(
        base_url=base_url.rstrip("/"),
        token=api_key,
        timeout=httpx.Timeout(timeout),
        raise_on_unexpected_status=True,
    )
