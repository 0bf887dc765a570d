"""The counts of a report as rows of a table: a label and a value each."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from linker.wording import decimal, number, within

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence

    from linker.runs.reports import Row

NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Table:
    """How the fields of a report are named and shown, where their names and plain values do not speak for themselves.

    `labels`: of fields, by name. `keys`: what the keys of a dictionary are called, by the name of its field. `values`:
    how a field is shown, by name: as a text, or as rows below its label. `hidden`: fields that have no row. `only`: the
    fields that have one, in the order of the rows, where these are not all in their own.
    """

    labels: Mapping[str, Any] = field(default_factory=dict)
    keys: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    values: Mapping[str, Callable[[Any], str | list[Row]]] = field(default_factory=dict)
    hidden: Collection[str] = ()
    only: Sequence[str] = ()

    def rows(self, report: Any, without: Container[str] = ()) -> list[Row]:
        """A row a value, in the order of the fields, but for the fields in `without`."""
        names = self.only or [one.name for one in fields(report) if one.name not in self.hidden]
        return list(self._rows(report, [name for name in names if name not in without]))

    def _rows(self, part: Any, names: list[str], above: str = "") -> Iterator[Row]:
        for name in names:
            value = getattr(part, name)
            if value is None:  # not counted
                continue
            label = capitalised(str(self.labels.get(name) or gettext(name.replace("_", " "))))
            label = f"{above}: {within(label)}" if above else label
            if name in self.values:
                yield from _below(label, self.values[name](value))
            elif is_dataclass(value):
                yield from self._rows(value, [one.name for one in fields(value) if one.name not in self.hidden], label)
            elif isinstance(value, dict) and value:
                called = self.keys.get(name, str)
                yield from ((f"{label}: {within(called(key))}", plain(number)) for key, number in value.items())
            else:
                yield label, plain(value)


def _below(label: str, shown: str | list[Row]) -> Iterator[Row]:
    if isinstance(shown, str) or not shown:
        yield label, plain(shown)
    else:
        yield from ((f"{label}: {name}", text) for name, text in shown)


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(value: Any) -> str:
    """A value as text: yes and no, grouped integers, short decimals."""
    if value in ("", (), [], {}):
        return NOTHING
    match value:
        case Enum() | str():
            return str(value)
        case bool():
            return gettext("yes") if value else gettext("no")
        case int():
            return number(value)
        case float():
            return decimal(value, len(f"{value:.4f}".rstrip("0").partition(".")[2]))
        case list() | tuple():
            return ", ".join(map(plain, value))
    return str(value)
