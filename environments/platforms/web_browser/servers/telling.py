"""What the server of an application answers when it is asked for its state."""

from __future__ import annotations

import http.client

from taskloom.resources.applications import ToldState

_LONGEST_WAIT = 5.0
"""Seconds for connecting, and for each part of the answer."""
_MOST_BYTES = 1 << 20


def asked_server(told: ToldState, port: int) -> str | None:
    """The answer of the server on a loopback port; None where there is none, or one that is too long."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_LONGEST_WAIT)
    try:
        if told.body:
            connection.request("POST", told.address, told.body.encode(), {"Content-Type": told.body_type})
        else:
            connection.request("GET", told.address)
        answer = connection.getresponse()
        content = answer.read(_MOST_BYTES + 1)
        if answer.status != http.HTTPStatus.OK or len(content) > _MOST_BYTES:
            return None
        return content.decode()
    except (OSError, http.client.HTTPException, UnicodeDecodeError):
        return None
    finally:
        connection.close()
