"""Whatever these tests ask is asked in German as well, so that every answer there is a fixture for is read."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import pytest
from django.utils.translation import override

from linker.explain.findings import PairAnswer
from tests.german import english_in, untranslated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from linker.explain.findings import Finding


def _texts(answer: PairAnswer | list[Finding]) -> Iterator[str]:
    """All that an answer says."""
    findings: Iterable[Finding] = answer
    if isinstance(answer, PairAnswer):
        yield answer.headline
        findings = answer.findings
    for finding in findings:
        yield from (finding.text, finding.todo, finding.link.label if finding.link else "")


def _in_german_too(ask: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(ask)
    def asked(*args: Any, **named: Any) -> Any:
        answer = ask(*args, **named)
        with override("de"):
            german = list(_texts(ask(*args, **named)))
        assert untranslated(_texts(answer), german, same="^Import$") == []
        assert english_in(german) == []
        return answer

    return asked


@pytest.fixture(autouse=True)
def german(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("why_not_page", "why_not_pair"):
        if hasattr(request.module, name):
            monkeypatch.setattr(request.module, name, _in_german_too(getattr(request.module, name)))
