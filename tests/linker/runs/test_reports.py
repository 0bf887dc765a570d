"""Reports are stored as JSON with a version, and read back as what they were."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

import pytest

from linker.runs.kinds import run_kinds
from linker.runs.reports import Report, report_kind


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Pot:
    name: str
    litres: float = 0.5


@dataclass(frozen=True, kw_only=True)
class PotReport(Report):
    made: int = 0
    broken: int | None = None
    by_colour: dict[Colour, int] = field(default_factory=dict)
    of_shelf: dict[int, Pot] = field(default_factory=dict)
    best: Pot | None = None
    shown: tuple[Pot, ...] = ()


FULL = PotReport(
    made=3,
    by_colour={Colour.BLUE: 2, Colour.RED: 1},
    of_shelf={7: Pot(name="jug")},
    best=Pot(name="bowl", litres=2),
    shown=(Pot(name="jug"), Pot(name="bowl", litres=2)),
)


def test_a_report_comes_back_as_it_was_stored():
    stored = FULL.to_json()
    assert PotReport.from_json(stored) == FULL
    assert stored == {
        "version": 1,
        "made": 3,
        "by_colour": {"blue": 2, "red": 1},
        "of_shelf": {"7": {"name": "jug", "litres": 0.5}},
        "best": {"name": "bowl", "litres": 2},
        "shown": [{"name": "jug", "litres": 0.5}, {"name": "bowl", "litres": 2}],
    }


def test_what_was_not_counted_is_not_stored_and_nought_is():
    assert "broken" not in PotReport().to_json()
    assert PotReport(broken=0).to_json()["broken"] == 0
    assert PotReport.from_json({}).broken is None


def test_a_dictionary_from_before_reports_were_types_gives_what_is_known_of_it():
    assert PotReport.from_json({"made": 4, "glazed in the rain": 1}) == PotReport(made=4)


def test_an_earlier_version_is_upgraded():
    class Later(PotReport):
        version: ClassVar[int] = 2

        @classmethod
        def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
            return {**stored, "made": 10 * stored["made"]} if version == 1 else super().upgrade(stored, version)

    assert Later.from_json({"version": 1, "made": 2}).made == 20
    assert Later.from_json({"made": 2}).made == 2


def test_of_a_later_version_what_is_known_here_is_read():
    stored = {"version": 2, "made": 4, "fired": 3, "best": {"name": "bowl", "handle": True}}
    assert PotReport.from_json(stored) == PotReport(made=4, best=Pot(name="bowl"))


@pytest.mark.parametrize("version", [None, 2])
def test_what_another_version_stored_and_this_one_cannot_read_is_left_out(version):
    stored = {"made": 4, "by_colour": {"green": 1}, "broken": "many", "best": {"name": "bowl", "handle": True}}
    if version:
        stored["version"] = version
    assert PotReport.from_json(stored) == PotReport(made=4, best=Pot(name="bowl"))


@pytest.mark.parametrize("stored", [{"fired": 3}, {"best": {"name": "bowl", "handle": True}}])
def test_a_field_that_its_own_version_does_not_know_is_refused(stored):
    with pytest.raises(ValueError, match=r"has no field (fired|handle)"):
        PotReport.from_json({"version": 1, **stored})


def test_a_key_that_is_no_member_of_its_enum_is_refused():
    with pytest.raises(ValueError, match="green"):
        PotReport.from_json({"version": 1, "by_colour": {"green": 1}})


@pytest.mark.parametrize("kind", run_kinds())
def test_every_kind_of_report_has_words_even_where_nothing_was_counted(kind):
    """What a new kind of run has to hold to."""
    found = report_kind(kind)
    empty = found.type.from_json({})
    assert issubclass(found.type, Report)
    assert found.type.from_json(empty.to_json()) == empty
    for sentence in filter(None, found.sentences(empty)):
        assert sentence[0].isupper() or sentence[0].isdigit()
        assert sentence.endswith(".")
    for label, value in [*found.rows(empty), *found.reading(empty)]:
        assert label[0].isupper()
        assert value
