"""`callscope normalize`: one raw response in on stdin, the canonical outcome out on stdout."""

from __future__ import annotations

import sys
from typing import Annotated

from cyclopts import Parameter

from callscope.cli._console import put
from callscope.errors import InputError

__all__ = ["normalize"]


def normalize(
    *,
    api: str,
    status: int = 200,
    header: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    stream: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Read one raw response body on stdin, print its canonical outcome.

    Parameters
    ----------
    api:
        The wire format, for example openai-chat.
    status:
        The HTTP status the body came with.
    header:
        A response header as `Name: value`; may be given several times.
    stream:
        The body is a stream of events.
    """
    import msgspec

    from callscope.api import normalize as normalize_body
    from callscope.jsontext import dump_faithful

    headers = []
    for text in header:
        name, colon, value = text.partition(":")
        if not colon or not name.strip():
            raise InputError("is no header", field="--header", found=text, expected="Name: value")
        headers.append((name.strip(), value.strip()))
    outcome = normalize_body(api, status=status, headers=headers, body=sys.stdin.buffer.read(), stream=stream)
    put(dump_faithful(msgspec.to_builtins(outcome), indent=2) + b"\n")
    return 0
