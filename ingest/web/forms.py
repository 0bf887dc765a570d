"""Choosing a file, and saying which column fills which field."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from ingest.fields.mapping import PREFIX, families, family
from ingest.files.sniff import DELIMITERS
from ingest.files.text import ENCODINGS
from ingest.kinds import registry
from ingest.sources import registry as sources
from linker.errors import UserError
from linker.reports.table import capitalised
from linker.wording import number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.core.files.uploadedfile import UploadedFile

    from ingest.fields.mapping import Columns, Field
    from ingest.kinds.base import Option
    from ingest.models import Upload
    from ingest.preview import FilePreview


class UploadForm(forms.Form):
    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "internal_html.csv, internal_all.csv, all_inlinks.csv, all_outlinks.csv, a Search Console export, "
            "or any CSV with a header row; plain, .gz or .zip"
        ),
        widget=forms.ClearableFileInput(attrs={"accept": ".csv,.tsv,.txt,.gz,.zip,text/csv"}),
        max_length=255,
        allow_empty_file=True,  # an empty file has a message of its own
    )
    kind = forms.ChoiceField(
        label=_("Contents"),
        choices=lambda: [("", _("Detect from the columns")), *((kind.name, kind.choice) for kind in registry.kinds())],
        required=False,
    )
    encoding = forms.ChoiceField(
        label=_("Encoding"),
        choices=lambda: [
            ("", gettext("Detect (UTF-8 or UTF-16)")),
            *((code, gettext(label)) for code, label in ENCODINGS.items()),
        ],
        required=False,
        help_text=_("Only needed for other encodings"),
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
                gettext(
                    "The file is larger than %(megabytes)s MB. Compress it as .gz, split it, or import it on the "
                    "command line."
                )
                % {"megabytes": number(settings.UPLOAD_MAX_MB)}
            )
        return file


class SourceForm(forms.Form):
    """Rows from a source that is no file: which one, where in it, and what they hold."""

    prefix = "source"
    source = forms.ChoiceField(label=_("Source"), choices=lambda: [(one.name, one.label) for one in sources.sources()])
    where = forms.CharField(label=_("Where"), max_length=2000)
    kind = forms.ChoiceField(
        label=_("Contents"), choices=lambda: [(kind.name, kind.choice) for kind in registry.kinds()]
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["where"].label = " / ".join(dict.fromkeys(str(one.where_label) for one in sources.sources()))


class _OptionField(forms.CharField):
    """A text that an option of an import reads."""

    def __init__(self, option: Option, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.option = option

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        try:
            return self.option.clean(text) if text else ""
        except UserError as error:
            raise ValidationError(str(error)) from None


def _option_field(option: Option) -> forms.Field:
    if option.is_tick:
        return forms.BooleanField(label=option.label, help_text=option.help_text, required=False)
    return _OptionField(
        option, label=option.label, help_text=option.help_text, required=False, max_length=option.max_length
    )


class ReadingForm(forms.Form):
    """How an upload is read. What a request does not name stays as it was."""

    AUTO, NO_HEADER = "auto", "none"
    encoding = forms.ChoiceField(
        label=_("Encoding"),
        choices=lambda: [
            (ReadingForm.AUTO, gettext("Detect (UTF-8 or UTF-16)")),
            *((code, gettext(label)) for code, label in ENCODINGS.items()),
        ],
        required=False,
    )
    delimiter = forms.ChoiceField(
        label=_("Delimiter"),
        choices=lambda: [
            (ReadingForm.AUTO, gettext("Detect")),
            *((mark, capitalised(gettext(name))) for mark, name in DELIMITERS.items()),
        ],
        required=False,
    )
    header = forms.ChoiceField(
        label=_("Header row"),
        choices=[("row", _("A row with the columns' names")), (NO_HEADER, _("The file has no header"))],
        required=False,
    )

    def __init__(self, data: Any, *, upload: Upload) -> None:
        initial = {
            "encoding": upload.encoding or self.AUTO,
            "delimiter": upload.delimiter or self.AUTO,
            "header": self.NO_HEADER if upload.no_header else "row",
        }
        super().__init__(data, initial=initial, use_required_attribute=False)

    def changed(self) -> dict[str, Any]:
        """How the upload is to be read from now on; empty where nothing changes. `action=no_header` is the one click
        below a doubt about the header."""
        if not self.is_valid():
            return {}
        wanted = {name: self.cleaned_data[name] or self.initial[name] for name in self.fields}
        if self.data.get("action") == "no_header":
            wanted["header"] = self.NO_HEADER
        if wanted == self.initial:
            return {}
        found = {name: "" if wanted[name] == self.AUTO else wanted[name] for name in ("encoding", "delimiter")}
        return {**found, "no_header": wanted["header"] == self.NO_HEADER}


class MappingForm(forms.Form):
    """One choice of columns a field. A choice's value is the JSON list of its columns, in order.

    Each field's list holds every column, so that a file of thousands of columns would make a page of megabytes: of
    such a file `MAX_OFFERED` are offered, and those of a long numbered series come last.
    """

    MAX_OFFERED = 200
    LONG_SERIES = 20

    def __init__(self, data: Any, *, looked: FilePreview) -> None:
        super().__init__(data, use_required_attribute=False)
        self.kind, self.looked = looked.kind, looked
        self.offered = self._offered()
        for field in self.kind.fields.fields:
            current = looked.mapping.get(field.name, [])
            if field.text:
                self.fields[field.name] = forms.CharField(
                    label=field.label,
                    help_text=_("For a column of handles or of addresses without a host: /products/"),
                    initial="".join(current),
                    required=False,
                    max_length=500,
                    validators=[RegexValidator(PREFIX, _("Begin it with / or https://."))],
                )
                continue
            self.fields[field.name] = forms.ChoiceField(
                label=field.label,
                choices=[("[]", _("(none)")), *self._choices(field, current)],
                initial=json.dumps(current),
                required=False,
            )
        for option in self.kind.options:
            self.fields[option.name] = _option_field(option)

    def option_fields(self) -> list[forms.BoundField]:
        """What the user may choose apart from the columns."""
        return [self[option.name] for option in self.kind.options]

    def options(self) -> dict[str, Any]:
        """What the user chose apart from the columns."""
        return {option.name: self.cleaned_data[option.name] for option in self.kind.options}

    def _offered(self) -> Sequence[str]:
        header = self.looked.header
        if len(header) <= self.MAX_OFFERED:
            return header
        # A repeated name is a series as well: x, x (2), x (3).
        series = {column: family(column.rstrip(")")) for column in header}
        lengths = Counter(series.values())
        return sorted(header, key=lambda column: lengths[series[column]] > self.LONG_SERIES)[: self.MAX_OFFERED]

    def _choices(self, field: Field, current: list[str]) -> Iterator[tuple[str, str]]:
        found = {json.dumps([column]): column[:80] for column in self.offered}
        if field.many:
            for name, columns in families(self.looked.header).items():
                if len(columns) > 1:
                    found[json.dumps(columns)] = gettext("%(name)s (all %(columns)d)") % {
                        "name": name[:60],
                        "columns": len(columns),
                    }
        if current:
            found.setdefault(json.dumps(current), (gettext(", else ") if field.first else ", ").join(current)[:80])
        yield from found.items()

    def mapping(self) -> Columns:
        """Every field with the columns, or the text, chosen for it; an empty list says none."""
        chosen = {}
        for field in self.kind.fields.fields:
            value = self.cleaned_data[field.name]
            chosen[field.name] = ([value] if value else []) if field.text else json.loads(value or "[]")
        return chosen

    def rows(self) -> Iterator[dict[str, Any]]:
        """What the preview shows of each field."""
        for field in self.kind.fields.fields:
            filled = bool(self.looked.mapping.get(field.name))
            yield {
                "field": self[field.name],
                "required": field.required,
                "filled": filled,
                "text": field.text,
                "values": self.looked.values(field) if filled and not field.text else [],
            }
