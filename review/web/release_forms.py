"""How a file of links is asked for, and which links of a list are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy

from linker.query_strings import MAX_ID, is_id
from review.live.seeing import NOTE_LENGTH
from review.models import ReleaseFormat
from review.releases.rows import Choice

if TYPE_CHECKING:
    from django.http import QueryDict


class FileForm(forms.Form):
    """How a file is written."""

    format = forms.ChoiceField(
        label=gettext_lazy("Format"),
        choices=ReleaseFormat.choices,
        initial=ReleaseFormat.FULL,
        help_text=gettext_lazy(
            "The JOIL file holds the donor, anchor and acceptor of new links. It has no rel, and no changes or "
            "removals: those wait for a full file."
        ),
    )
    bom = forms.BooleanField(
        required=False,
        label=gettext_lazy("Byte-order mark"),
        help_text=gettext_lazy("Excel needs it to read accents and other scripts."),
    )


class ReleaseForm(FileForm):
    """A release to be made. `links`: how many the page said would leave; without, it said that they are too many to
    count."""

    links = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)


class DownloadForm(FileForm):
    """A file that marks nothing: without parameters, the suggestions that the queue shows, in full. Accepted links
    leave by a release alone."""

    format = forms.ChoiceField(
        label=gettext_lazy("Format"), choices=ReleaseFormat.choices, initial=ReleaseFormat.FULL, required=False
    )
    status = forms.ChoiceField(
        choices=[
            (Choice.SHOWN, gettext_lazy("Suggestions that the queue shows")),
            (Choice.SUGGESTED, gettext_lazy("All open suggestions, also those held back")),
            (Choice.EXPORTED, gettext_lazy("All links exported so far")),
            (Choice.ALL, gettext_lazy("Suggested, accepted and exported together")),
        ],
        initial=Choice.SHOWN,
        required=False,
        label=gettext_lazy("Links"),
    )

    def chosen(self) -> tuple[Choice, ReleaseFormat]:
        values = self.cleaned_data
        return Choice(values["status"] or Choice.SHOWN), ReleaseFormat(values["format"] or ReleaseFormat.FULL)


class CheckedLinksForm(forms.Form):
    """The links of a list that are checked, at most `most`, a note on them, and the query string of the list."""

    most: int
    link = forms.TypedMultipleChoiceField(coerce=int)
    note = forms.CharField(required=False, max_length=NOTE_LENGTH)
    query = forms.CharField(required=False, max_length=2000)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        known = [text for text in data.getlist("link")[: self.most] if is_id(text)]
        self.fields["link"].choices = [(text, text) for text in known]  # type: ignore[attr-defined]

    def clean_query(self) -> str:
        query = self.cleaned_data["query"].lstrip("?")
        return query if query.isprintable() else ""
