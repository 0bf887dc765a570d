"""The report of each kind of run says nothing in English to who reads German."""

from __future__ import annotations

import types
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest
from django.utils.translation import override

from ingest.fields.skipped import FORMER_REASONS, REASONS
from ingest.kinds.links.parse import IGNORED
from linker.engine.candidates.registry import GENERATORS
from linker.engine.ranking.rankers.registry import RANKERS
from linker.matching.report_types import MatchReport, ReceivedReport
from linker.pages.languages import MODEL_ADVICE
from linker.runs.kinds import run_kinds
from linker.runs.reports import report_kind
from tests.german import english_in, untranslated

ADVICE = MODEL_ADVICE[False, True].said(
    pages="1,200", all="2,400", languages="French and Italian", model="mini", known="German", one="e5", other="bge"
)
# What fills fields whose values are names of something, by the field.
KEYS = {
    "skipped": [*REASONS, *FORMER_REASONS],
    "ignored": [*IGNORED],
    "generators": [*GENERATORS],
    "languages": ["fr", "es", ""],
    "mapping": ["body", "url", "alt", "target"],
}
TEXTS = {
    "ranking": next(iter(RANKERS)),
    "period": "2026-01-01 to 2026-01-31",
    "delimiter": "comma",
    "packed": "no",
    "category_source": "folders",
    "advice": ADVICE,
    "encoding": "UTF-8",
}
# Names of files, programs and people, and words that both languages have.
SAME = r"a\.csv|UTF-8|Export|Import|Links?|Status|JSON-LD|Search Console|Analytics|Bytes"


def filled(kind: Any, amount: int, name: str = "") -> Any:
    """A value of a type with everything in it, each number being `amount`."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        return filled(next(part for part in parts if part is not types.NoneType), amount, name)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{one.name: filled(hints[one.name], amount, one.name) for one in fields(kind)})
    if origin is tuple:
        return (filled(parts[0], amount, name),)
    if origin is dict:
        keys = KEYS.get(name) or list(parts[0])
        return {key: filled(parts[1], amount, name) for key in keys}
    if issubclass(kind, Enum):
        return next(iter(kind))
    return {bool: True, int: amount, float: 0.5, str: TEXTS.get(name, "a.csv")}[kind]


def said(kind: str, report: Any) -> list[str]:
    found = report_kind(kind)
    rows = [*found.rows(report, ()), *found.reading(report)]
    return [*filter(None, found.sentences(report)), *(text for row in rows for text in row)]


@pytest.mark.parametrize("amount", [0, 1, 1234])
@pytest.mark.parametrize("kind", run_kinds())
def test_a_report_is_said_in_german(kind, amount):
    report = filled(report_kind(kind).type, amount)
    english = said(kind, report)
    with override("de"):
        german = said(kind, report)
    assert untranslated(english, german, SAME) == []
    assert english_in(german) == []


@pytest.mark.parametrize("why", ["held_back", "no_room", "too_unlikely", "linked", "not_found"])
@pytest.mark.parametrize("shown", [0, 1, 2])
def test_pages_that_lack_links_are_told_of_in_german(why, shown):
    got = replace(ReceivedReport(pages=shown + 1, shown=shown), **{why: 1})
    report = MatchReport(under_linked=got, orphans=replace(got, pages=shown + 3, **{why: 3}))
    with override("de"):
        assert english_in(said("match", report)) == []


@pytest.mark.parametrize("saying", MODEL_ADVICE.values())
def test_a_stored_warning_about_the_model_is_said_again(saying):
    stored = saying.said(
        pages="1,200", all="2,400", languages="French and Italian", model="mini", known="German", one="e5", other="bge"
    )
    with override("de"):
        [told] = [text for text in said("embed", filled(report_kind("embed").type, 0)) if "mini" in text]
        assert "Französisch und Italienisch" in told
        assert "1.200 von 2.400" in told
    assert stored
