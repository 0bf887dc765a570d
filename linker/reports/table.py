"""The counts of a report as rows of a table: a label and a value each."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from linker.runs.reports import Row

NOTHING = "\N{EN DASH}"


@dataclass(frozen=True)
class Table:
    """How the fields of a report are named and shown, where their own names and plain values do not do.

    `labels`: of fields, by name. `keys`: what the keys of a dictionary are called, by the name of its field. `values`:
    how a field's value is shown, by name. `hidden`: fields that are said elsewhere or to nobody.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    keys: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    values: Mapping[str, Callable[[Any], str]] = field(default_factory=dict)
    hidden: Container[str] = ()

    def rows(self, report: Any, above: str = "") -> Iterator[Row]:
        """A row a value, in the order of the fields; what the run did not count, None, has none. Values of a part of
        the report stand below its name."""
        for one in fields(report):
            value = getattr(report, one.name)
            if value is None or one.name in self.hidden:
                continue
            label = capitalised(self.labels.get(one.name, one.name.replace("_", " ")))
            name = f"{above}: {label.lower()}" if above else label
            if is_dataclass(value):
                yield from self.rows(value, name)
            elif one.name in self.values:
                yield name, self.values[one.name](value)
            elif isinstance(value, dict) and value:
                key_name = self.keys.get(one.name, plain)
                yield from ((f"{name}: {key_name(key).lower()}", plain(part)) for key, part in value.items())
            else:
                yield name, plain(value)


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def plain(value: Any) -> str:
    """A value as text: yes and no, grouped integers, short decimals."""
    match value:
        case None | "" | () | [] | {}:
            return NOTHING
        case Enum():
            return str(value.value)
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.4f}".rstrip("0").rstrip(".")
        case list() | tuple():
            return ", ".join(plain(part) for part in value)
    return str(value)
