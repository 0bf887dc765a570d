"""What a run did, as a type: one dataclass a kind of run, stored as JSON with its version.

A report holds counts, ids and enums. How it is put into words is said by the app that owns the kind of run:
linker.runs.kinds names where.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Container, Mapping
from dataclasses import MISSING, dataclass, field, fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from django.utils.module_loading import import_string

from linker.models.run import IMPORT_PREFIX
from linker.runs.kinds import RUN_KINDS

if TYPE_CHECKING:
    from linker.models import Run

Row = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The base of all reports.

    Fields are numbers, texts, enums, dataclasses, tuples of these, and dictionaries by enum, id or code. None stands
    for what the run did not count; it is not stored. The order of the fields is the order on screen.
    """

    version: ClassVar[int] = 1

    @property
    def brought_news(self) -> bool:
        """Whether the run changed something that later steps of the project rest on."""
        return False

    @property
    def has_skipped_list(self) -> bool:
        """Whether there is a list of rows and cells left out, for download."""
        return False

    def to_json(self) -> dict[str, Any]:
        """As stored in `Run.report`: a value a field, and the version."""
        return {"version": self.version, **_to_json(self)}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """The report that `to_json` stored, or an earlier version did.

        Of another version than today's, a field that is not known here, or holds what cannot be read, is left out: a
        run's page says a little less of it and opens. Of today's version, such a field raises ValueError.
        """
        version = stored.get("version", 0)
        values = {name: value for name, value in stored.items() if name != "version"}
        if version < cls.version:
            values = cls.upgrade(values, version)
        return _from_json(cls, values, may_have_more=version != cls.version)

    @classmethod
    def upgrade(cls, stored: dict[str, Any], version: int) -> dict[str, Any]:
        """What an earlier version stored, as today's would have. Version 0 are the dictionaries from before reports
        were types; where they had the same keys, those that are known are taken as they are."""
        if version:
            raise ValueError(f"{cls.__name__} cannot read reports of version {version}")
        known = {field.name for field in fields(cls)}
        return {name: value for name, value in stored.items() if name in known}


def _to_json(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value):
        said = {field.name: getattr(value, field.name) for field in fields(value)}
        return {name: _to_json(part) for name, part in said.items() if part is not None}
    if isinstance(value, dict):
        return {str(_to_json(key)): _to_json(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(part) for part in value]
    return value


_hints = functools.cache(get_type_hints)


def _from_json(kind: Any, value: Any, *, may_have_more: bool) -> Any:
    """`value` as the type that a field is declared to be."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        unknown = sorted(value.keys() - {field.name for field in fields(kind)})
        if unknown and not may_have_more:
            raise ValueError(f"{kind} has no field {', '.join(unknown)}")
        known = {}
        for field in fields(kind):
            if field.name not in value:
                continue
            try:
                known[field.name] = _from_json(hints[field.name], value[field.name], may_have_more=may_have_more)
            except (ValueError, TypeError, AttributeError):
                if not may_have_more or (field.default is MISSING and field.default_factory is MISSING):
                    raise
        return kind(**known)
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, types.UnionType):
        [kind] = (part for part in parts if part is not types.NoneType)
        return None if value is None else _from_json(kind, value, may_have_more=may_have_more)
    if origin is tuple:
        return tuple(_from_json(parts[0], part, may_have_more=may_have_more) for part in value)
    if origin is dict:
        return {
            _from_json(parts[0], key, may_have_more=False): _from_json(parts[1], part, may_have_more=may_have_more)
            for key, part in value.items()
        }
    # The keys of a dictionary are texts in JSON.
    return kind(int(value)) if issubclass(kind, int) else kind(value)


R = TypeVar("R", bound=Report)


def _no_rows(_: Any) -> list[Row]:
    return []


@dataclass(frozen=True)
class ReportKind(Generic[R]):
    """A type of report and its words.

    `sentences` say what the run did, most important first; empty ones are left out. `rows` are the counts with their
    labels, but for some fields. `reading` says how an import read its file. `labels`: what fields of an import are
    called, for the log of changes.
    """

    type: type[R]
    sentences: Callable[[R], list[str]]
    rows: Callable[[R, Container[str]], list[Row]]
    reading: Callable[[R], list[Row]] = _no_rows
    labels: Mapping[str, Any] = field(default_factory=dict)


IMPORT_REPORTS = "ingest.kinds.registry.report_kind"  # called with the kind of an import's run


def report_kind(kind: str) -> ReportKind[Any]:
    """The words for a kind of run. Raises KeyError where there is no such kind."""
    found: ReportKind[Any]
    if kind.startswith(IMPORT_PREFIX):
        found = import_string(IMPORT_REPORTS)(kind)
    else:
        found = import_string(RUN_KINDS[kind].report)
    return found


def report_of(run: Run) -> Report:
    """A run's report. One that has not ended, or ended without a report, has an empty one."""
    report: Report = report_kind(run.kind).type.from_json(run.report)
    return report
