"""Choosing a file, and saying which column fills which field."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from ingest.fields import schema
from ingest.files.text import ENCODINGS
from ingest.kinds.traffic.periods import TooLong, parse_period

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.core.files.uploadedfile import UploadedFile

    from ingest.services import Look


class UploadForm(forms.Form):
    file = forms.FileField(
        label="File",
        help_text="internal_html.csv, internal_all.csv, all_inlinks.csv, all_outlinks.csv, a Search Console export, "
        "or any CSV with a header row; plain, .gz or .zip",
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.gz,.zip,text/csv"}),
        max_length=255,
        allow_empty_file=True,  # an empty file has a message of its own
    )
    kind = forms.ChoiceField(
        label="Contents",
        choices=[
            ("", "Detect from the columns"),
            (schema.PAGES, "Pages"),
            (schema.LINKS, "Links between pages"),
            (schema.QUERIES, "Search queries of pages"),
            (schema.TRAFFIC, "Traffic of pages: clicks, impressions, hits"),
        ],
        required=False,
    )
    encoding = forms.ChoiceField(
        label="Encoding",
        choices=[("", "Detect (UTF-8 or UTF-16)"), *ENCODINGS.items()],
        required=False,
        help_text="Only needed for other encodings",
    )

    def __init__(self, *args: Any, refused: str = "", **kwargs: Any) -> None:
        """`refused` says why a file that was sent did not arrive."""
        super().__init__(*args, **kwargs)
        if refused:
            self.fields["file"].error_messages["required"] = refused

    def clean_file(self) -> UploadedFile:
        file = self.cleaned_data["file"]
        if file.size > settings.UPLOAD_MAX_MB * 2**20:
            raise ValidationError(
                f"The file is larger than {settings.UPLOAD_MAX_MB:,} MB. Compress it as .gz, split it, or import it on "
                "the command line."
            )
        return file


class MappingForm(forms.Form):
    """One choice of columns a field. A choice's value is the JSON list of its columns, in order.

    Each field's list holds every column, so that a file of thousands of columns would make a page of megabytes: of
    such a file `MOST_OFFERED` are offered, and those of a long numbered series come last.
    """

    MOST_OFFERED = 200
    LONG_SERIES = 20

    def __init__(self, data: Any, *, kind: str, looked: Look) -> None:
        super().__init__(data, use_required_attribute=False)
        self.kind, self.looked = kind, looked
        self.offered = self._offered()
        for field in schema.FIELDS[kind]:
            current = looked.mapping.get(field.name, [])
            if field.text:
                self.fields[field.name] = forms.CharField(
                    label=field.label,
                    help_text="For a column of handles or of addresses without a host: /products/",
                    initial="".join(current),
                    required=False,
                    max_length=500,
                    validators=[RegexValidator(schema.PREFIX, "Begin it with / or https://.")],
                )
                continue
            self.fields[field.name] = forms.ChoiceField(
                label=field.label,
                choices=[("[]", "(none)"), *self._choices(field, current)],
                initial=json.dumps(current),
                required=False,
            )
        if kind in schema.MARKS_MISSING:
            self.fields["allow_shrink"] = forms.BooleanField(
                label="Import even if the file has far fewer entries than the project",
                help_text="Otherwise the import stops if it would mark more than a fifth of them as missing.",
                required=False,
            )

        if kind == schema.TRAFFIC:
            self.fields["period"] = forms.CharField(
                label="Period",
                help_text="A month (2026-01), or the first and last day (2026-01-01 to 2026-03-31). If empty, the "
                "period named in the file is used, if any.",
                required=False,
                max_length=60,
            )

    def clean_period(self) -> str:
        text = self.cleaned_data["period"]
        try:
            period = parse_period(text) if text else ""
        except TooLong as error:
            raise ValidationError(str(error)) from None
        except ValueError:
            raise ValidationError(
                "This is not a period. Enter a month (2026-01), or the first and last day (2026-01-01 to 2026-03-31)."
            ) from None
        return str(period)

    def _offered(self) -> Sequence[str]:
        header = self.looked.header
        if len(header) <= self.MOST_OFFERED:
            return header
        # A repeated name is a series as well: x, x (2), x (3).
        series = {column: schema.family(column.rstrip(")")) for column in header}
        lengths = Counter(series.values())
        return sorted(header, key=lambda column: lengths[series[column]] > self.LONG_SERIES)[: self.MOST_OFFERED]

    def _choices(self, field: schema.Field, current: list[str]) -> Iterator[tuple[str, str]]:
        found = {json.dumps([column]): column[:80] for column in self.offered}
        if field.many:
            for name, columns in schema.families(self.looked.header).items():
                if len(columns) > 1:
                    found[json.dumps(columns)] = f"{name[:60]} (all {len(columns)})"
        if current:
            found.setdefault(json.dumps(current), (", else " if field.first else ", ").join(current)[:80])
        yield from found.items()

    def mapping(self) -> schema.Columns:
        """Every field with the columns, or the text, chosen for it; an empty list says none."""
        chosen = {}
        for field in schema.FIELDS[self.kind]:
            value = self.cleaned_data[field.name]
            chosen[field.name] = ([value] if value else []) if field.text else json.loads(value or "[]")
        return chosen

    def rows(self) -> Iterator[dict[str, Any]]:
        """What the preview shows of each field."""
        for field in schema.FIELDS[self.kind]:
            filled = bool(self.looked.mapping.get(field.name))
            yield {
                "field": self[field.name],
                "required": field.required,
                "filled": filled,
                "text": field.text,
                "values": self.looked.values(field) if filled and not field.text else [],
            }
