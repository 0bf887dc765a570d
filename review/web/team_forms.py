"""What a manager sends from the team's page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from review.overlap import MOST as MOST_READ_TWICE
from review.queue.known_readings import MOST as MOST_KNOWN

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import date

    from django.contrib.auth.models import User

    from linker.models import Category
    from review.models import SavedFilter


class ReadTwiceForm(forms.Form):
    """How many of the suggestions two people read."""

    percent = forms.IntegerField(
        label=_("Read by two people, %"),
        min_value=0,
        max_value=MOST_READ_TWICE,
        help_text=_("0 turns it off."),
    )


class KnownShareForm(forms.Form):
    """How many cards whose answer is known come among a hundred suggestions."""

    cards = forms.IntegerField(
        label=_("For each hundred suggestions"),
        min_value=0,
        max_value=MOST_KNOWN,
        help_text=_("0 turns it off."),
    )


class AssignForm(forms.Form):
    """A list of the queue, by its query string, for a person until a day."""

    query = forms.CharField(label=_("Suggestions"), max_length=2000, required=False, widget=forms.Select)
    person = forms.CharField(label=_("Person"), max_length=150, widget=forms.Select)
    due = forms.DateField(label=_("Until"), widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"))
    note = forms.CharField(label=_("Note"), max_length=500, required=False)

    def offer(
        self,
        people: Iterable[User],
        saved: Iterable[SavedFilter],
        categories: Iterable[Category],
        chosen: dict[str, str],
    ) -> None:
        """What can be chosen from; `chosen` is the filter that the manager has come from, by its query string."""
        lists: list[tuple[object, object]] = [*({"": _("All suggestions")} | chosen).items()]
        kept = [(one.query, one.name) for one in saved if one.query]
        below = [(f"category={one.pk}", str(one)) for one in categories]
        groups = ((_("Saved filters"), kept), (_("Categories"), below))
        lists += [(label, choices) for label, choices in groups if choices]
        self.fields["query"].widget.choices = lists
        names = [one.get_username() for one in people]
        self.fields["person"].widget.choices = [(name, name) for name in names]

    def clean_query(self) -> str:
        query = self.cleaned_data["query"]
        if not query.isprintable():
            raise forms.ValidationError("not a query string")
        return query

    def clean_due(self) -> date:
        due: date = self.cleaned_data["due"]
        if due < timezone.localdate():
            raise forms.ValidationError(_("This day is over. Choose today or a later day."))
        return due
