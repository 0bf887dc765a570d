"""The fields an import can fill and which columns fill them.

A mapping is {field: [columns]}: one column for most fields, several in order for the fields with `many` or `first`. An
empty list says that the field is left out on purpose. A field of `text` holds the user's own words instead, in a list
of one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext

from ingest.errors import FileError
from ingest.files.column_names import header_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Columns = dict[str, list[str]]
PREFIX = re.compile(r"/|https?://")
_DIGITS = "0123456789"
_PERIOD = re.compile(r" (?:last )?\d{1,3} ?(?:d|days?|w|weeks?|m|mo|months?|y|years?)$")  # at the end of a column's key


@dataclass(frozen=True)
class Field:
    """A field of an import.

    `many`: several numbered columns fill it together. `first`: of several columns the first that a row fills counts.
    `text`: not a column, but a text that the user gives.
    """

    name: str
    label: Any  # a text, or one to be translated
    many: bool = False
    required: bool = False
    first: bool = False
    text: bool = False


@dataclass(frozen=True)
class FieldSet:
    """The fields of one kind of import. `column_names` are the names that columns usually have, by field."""

    fields: tuple[Field, ...]
    column_names: Mapping[str, tuple[str, ...]]

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(field.name for field in self.fields)

    @cached_property
    def known_columns(self) -> frozenset[str]:
        """What columns are called, in the form of header_key(), by which a header row is recognised."""
        keys = {header_key(name) for names in self.column_names.values() for name in names}
        return frozenset(keys | {f"{key} 1" for key in keys})

    def by_name(self, header: Sequence[str]) -> Columns:
        """The mapping that the names of columns suggest; fields for which nothing was found are absent."""
        by_key: dict[str, str] = {}
        for column in header:
            by_key.setdefault(header_key(column), column)
        for column in header:  # “clicks_3m”: of several periods the first
            by_key.setdefault(_PERIOD.sub("", header_key(column)), column)
        group_by_key = {header_key(name): columns for name, columns in families(header).items()}
        mapping: Columns = {}
        for field in self.fields:
            for name in self.column_names.get(field.name, ()):
                key = header_key(name)
                if field.many and key in group_by_key:
                    mapping[field.name] = group_by_key[key]
                elif key in by_key or f"{key} 1" in by_key:
                    mapping[field.name] = [by_key.get(key) or by_key[f"{key} 1"]]
                if field.name in mapping:
                    break
        return mapping

    def has_required(self, header: Sequence[str]) -> bool:
        """Whether each required field has a column with a known name."""
        return {field.name for field in self.fields if field.required} <= set(self.by_name(header))

    def without_column(self, mapping: Columns) -> list[Field]:
        """The required fields that no column fills."""
        return [field for field in self.fields if field.required and field.name not in mapping]

    def columns_of(self, mapping: Mapping[str, Sequence[str]]) -> Columns:
        """The fields of a mapping that columns fill, without the user's own words."""
        texts = {field.name for field in self.fields if field.text}
        return {field: list(columns) for field, columns in mapping.items() if field not in texts}

    def resolve(
        self,
        guessed: Columns,
        name: str,
        header: Sequence[str],
        remembered: Mapping[str, Sequence[str]],
        wanted: Mapping[str, Sequence[str]],
    ) -> Columns:
        """The mapping to import with: the guess, changed by what the project remembers where the file has the columns,
        changed by what the user wants now.

        Raises FileError for an unknown field and for a column that the file lacks.
        """
        columns_remembered = self.columns_of(remembered)
        fitting = {field: columns for field, columns in columns_remembered.items() if set(columns) <= set(header)}
        mapping = guessed | fitting
        if "url" in fitting and "prefix" in remembered:  # it belongs to the column it was given for
            mapping["prefix"] = list(remembered["prefix"])
        fields = {field.name: field for field in self.fields}
        for field_name, columns in wanted.items():
            if field_name not in fields:
                said = gettext("There is no field “%(field)s”. The fields are: %(fields)s.")
                raise FileError(name, said % {"field": field_name, "fields": ", ".join(fields)})
            if fields[field_name].text:
                mapping[field_name] = [_prefix(name, text) for text in columns[-1:]]
            else:
                mapping[field_name] = [_column(name, header, column) for column in columns]
        return {field: columns for field, columns in mapping.items() if columns and field in fields}


def family(column: str) -> str:
    """The name a numbered column shares with its siblings: `Breadcrumb_Name 3` is of `Breadcrumb_Name`."""
    name, _ = _numbered(column)
    return name


def _numbered(column: str) -> tuple[str, int]:
    """A column's family and its number in it; 0 where it has none."""
    name = column.rstrip(_DIGITS)
    digits = column[len(name) :]
    name = name.rstrip(" _-")
    return (name, int(digits)) if name and digits and len(digits) < 10 else (column, 0)


def families(header: Sequence[str]) -> dict[str, list[str]]:
    """Columns by family, each family's in the order of their numbers."""
    groups: dict[str, list[tuple[int, str]]] = {}
    for column in header:
        name, number = _numbered(column)
        groups.setdefault(name, []).append((number, column))
    return {name: [column for _, column in sorted(columns, key=itemgetter(0))] for name, columns in groups.items()}


def _prefix(name: str, text: str) -> str:
    if not PREFIX.match(text):
        said = gettext("What is put before an address begins with / or https://, which “%(text)s” does not.")
        raise FileError(name, said % {"text": text[:60]})
    return text


def _column(name: str, header: Sequence[str], wanted: str) -> str:
    if wanted in header:
        return wanted
    for column in header:
        if header_key(column) == header_key(wanted):
            return column
    said = gettext("The file has no column “%(column)s”. Its columns are: %(columns)s.")
    raise FileError(name, said % {"column": wanted, "columns": listed(header)})


def listed(header: Sequence[str]) -> str:
    """Names of columns for a message."""
    shown = ", ".join(column[:60] for column in header[:30])
    if len(header) <= 30:
        return shown
    return gettext("%(columns)s and %(more)d more") % {"columns": shown, "more": len(header) - 30}
