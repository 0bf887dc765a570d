"""Regular expressions that users write: RE2's, compiled with an error that says where the fault is."""

from __future__ import annotations

from typing import Any

import re2

from linker.errors import UserError

_OPTIONS = re2.Options()
_OPTIONS.log_errors = False


class PatternError(UserError):
    """The text is no RE2 expression. `column` counts from 1."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(f"Column {column}: {message}. Patterns are regular expressions in RE2 syntax.")
        self.column = column


def compile_pattern(text: str) -> Any:
    """The compiled expression; `.search(address)` is what rules and filters do with it. Raises PatternError."""
    try:
        return re2.compile(text, _OPTIONS)
    except re2.error as error:
        message = _message(error)
        raise PatternError(message.removesuffix(f": {text}"), _column(text, message)) from None


def _message(error: re2.error) -> str:
    cause = error.args[0]
    return cause.decode(errors="replace") if isinstance(cause, bytes) else str(cause)


def _fault(text: str) -> str:
    """What RE2 says of the text, or an empty string where it compiles."""
    try:
        re2.compile(text, _OPTIONS)
    except re2.error as error:
        return _message(error)
    return ""


def _column(text: str, message: str) -> int:
    """Where the fault is, found on prefixes, because RE2 names the fragment and not its place."""
    kind, _, fragment = message.partition(": ")
    prefixes = [text[:end] for end in range(len(text) + 1)]
    if kind.startswith("missing"):
        return max(len(prefix) for prefix in prefixes if not _fault(prefix)) + 1
    first = next(prefix for prefix in prefixes if _fault(prefix).partition(": ")[0] == kind)
    place = text.find(fragment, max(0, len(first) - len(fragment))) if fragment not in ("", text) else -1
    return place + 1 if place >= 0 else len(first)
