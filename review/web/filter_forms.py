"""The filters of the queue and of the list of released links. They show what was read from the address, and judge
nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from linker import wording
from linker.models import EdgeStatus, RankedBy, Rel, SuppressedKind
from linker.web.forms.fields import SinceField
from review.queue.filter_choices import generator_choices
from review.queue.filters import MAX_TEXT, PLACEMENTS, OfPilot, Order, Sensitive
from review.releases.outgoing import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from django.contrib.auth.models import User
    from django.forms import BoundField

    from linker.models import Category, Tier
    from review.queue.facets import Facets
    from review.queue.filters import QueueFilter
    from review.queue.suppressed import SuppressedFilter
    from review.releases.outgoing import LinkFilter

ALL = ("", _("All"))


class QueueFilterForm(forms.Form):
    """Shows what review.queue.filters.QueueFilter has read. What other links of the page choose is sent along."""

    text = forms.CharField(
        label=_("Search"),
        max_length=MAX_TEXT,
        widget=forms.TextInput(
            attrs={"type": "search", "placeholder": _("Address, title or anchor"), "data-search": True}
        ),
    )
    tier = forms.ChoiceField(label=_("Tier"))
    category = forms.ChoiceField(label=_("Donor’s category"))
    sensitive = forms.ChoiceField(label=_("Sensitivity"))
    placement = forms.ChoiceField(label=_("Placement"))
    generator = forms.ChoiceField(label=_("Found by"), choices=lambda: [ALL, *generator_choices()])
    ranked_by = forms.ChoiceField(label=_("Ranked by"))
    probability = forms.IntegerField(
        label=_("Minimum probability, %"),
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"step": 1}),
    )
    pilot = forms.ChoiceField(label=_("Pilot"), choices=OfPilot.choices)
    since = SinceField()
    order = forms.ChoiceField(label=_("Order"), choices=Order.choices)
    held = forms.BooleanField(label=_("Held back"), widget=forms.CheckboxInput(attrs={"value": "1"}))
    regressed = forms.BooleanField(label=_("Back from the site"), widget=forms.CheckboxInput(attrs={"value": "1"}))
    stale = forms.BooleanField(label=_("No longer proposed"), widget=forms.CheckboxInput(attrs={"value": "1"}))
    status = forms.CharField(widget=forms.HiddenInput)
    donor = forms.IntegerField(widget=forms.HiddenInput)
    acceptor = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(
        self, chosen: QueueFilter, tiers: Sequence[Tier], categories: Sequence[Category], found: Facets
    ) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="f-%s", use_required_attribute=False)
        held_back = _("(held back)")
        self._offer(
            "tier",
            [(one.pk, f"{one.name} {held_back}" if one.held else one.name) for one in tiers],
            None if found.tiers is None else {one.pk: found.tiers[one.name] for one in tiers},
        )
        self._offer(
            "category",
            [(one.pk, str(one)) for one in categories],
            None if found.categories is None else {one.pk: found.categories[tuple(one.path)] for one in categories},
        )
        for name, known in (("sensitive", Sensitive), ("ranked_by", RankedBy)):
            self._offer(name, [choice for choice in known.choices if choice[0]], getattr(found, name))
        self._offer("placement", list(PLACEMENTS.items()), found.placements)
        if chosen.status == EdgeStatus.SUGGESTED:
            del self.fields["status"]
        for name in ("donor", "acceptor"):
            if not getattr(chosen, name):
                del self.fields[name]

    def _offer(self, name: str, choices: Sequence[tuple[Any, Any]], numbers: Mapping[Any, int] | None) -> None:
        """Fills a list, each value with how many the queue would hold under it, where that is known."""
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        if numbers is not None:
            choices = [(value, f"{label} ({wording.number(numbers.get(value, 0))})") for value, label in choices]
        field.choices = [ALL, *choices]

    @property
    def selects(self) -> list[BoundField]:
        """The fields between the search and the check boxes."""
        return [field for field in self.visible_fields() if field.name != "text" and field not in self.checks]

    @property
    def checks(self) -> list[BoundField]:
        return [self[name] for name in ("held", "stale", "regressed")]


class LinkFilterForm(forms.Form):
    """Shows what review.releases.outgoing.LinkFilter has read."""

    text = forms.CharField(
        label=_("Address, title or anchor"), max_length=MAX_TEXT, widget=forms.TextInput(attrs={"type": "search"})
    )
    state = forms.ChoiceField(label=_("Show"), choices=State.choices)
    rel = forms.ChoiceField(label="rel", choices=[("", _("Any")), *Rel.choices])
    release = forms.CharField(
        label=_("Named by release"), widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 6})
    )
    since = SinceField()

    def __init__(self, chosen: LinkFilter) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="%s", use_required_attribute=False)


class SuppressedFilterForm(forms.Form):
    """Shows what review.queue.suppressed.SuppressedFilter has read."""

    text = forms.CharField(
        label=_("Title or address"), max_length=MAX_TEXT, widget=forms.TextInput(attrs={"type": "search"})
    )
    kind = forms.ChoiceField(label=_("What"), choices=[ALL, *SuppressedKind.choices])
    who = forms.ChoiceField(label=_("By whom"))

    def __init__(self, chosen: SuppressedFilter, people: Iterable[User]) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="%s", use_required_attribute=False)
        who = self.fields["who"]
        assert isinstance(who, forms.ChoiceField)
        who.choices = [("", _("Everybody")), *((one.pk, one.get_username()) for one in people)]
