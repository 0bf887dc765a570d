"""The filters of the queue and of the list of released links. They show what was read from the address, and judge
nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from linker.models import EdgeStatus, Placement, RankedBy, Rel
from review.queue.filters import GAP, MAX_TEXT, OfPilot, Order, Sensitive, generator_choices
from review.releases.outgoing import State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.forms import BoundField

    from linker.models import Category, Tier
    from review.queue.filters import QueueFilter
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
    category = forms.ChoiceField(label=_("Donor's category"))
    sensitive = forms.ChoiceField(label=_("Sensitivity"), choices=Sensitive.choices)
    placement = forms.ChoiceField(label=_("Placement"), choices=[ALL, *Placement.choices, (GAP, _("Content gap"))])
    generator = forms.ChoiceField(label=_("Found by"), choices=lambda: [ALL, *generator_choices()])
    ranked_by = forms.ChoiceField(label=_("Ranked by"), choices=[ALL, *RankedBy.choices])
    probability = forms.IntegerField(
        label=_("Minimum probability, %"),
        min_value=0,
        max_value=100,
        widget=forms.NumberInput(attrs={"step": 1}),
    )
    pilot = forms.ChoiceField(label=_("Pilot"), choices=OfPilot.choices)
    order = forms.ChoiceField(label=_("Order"), choices=Order.choices)
    held = forms.BooleanField(label=_("Held back"), widget=forms.CheckboxInput(attrs={"value": "1"}))
    stale = forms.BooleanField(label=_("No longer proposed"), widget=forms.CheckboxInput(attrs={"value": "1"}))
    status = forms.CharField(widget=forms.HiddenInput)
    donor = forms.IntegerField(widget=forms.HiddenInput)
    acceptor = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, chosen: QueueFilter, tiers: Sequence[Tier], categories: Sequence[Category]) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="f-%s", use_required_attribute=False)
        tier, category = self.fields["tier"], self.fields["category"]
        assert isinstance(tier, forms.ChoiceField)
        assert isinstance(category, forms.ChoiceField)
        held_back = _("(held back)")
        tier.choices = [ALL, *((one.pk, f"{one.name} {held_back}" if one.held else one.name) for one in tiers)]
        category.choices = [ALL, *((one.pk, str(one)) for one in categories)]
        if chosen.status == EdgeStatus.SUGGESTED:
            del self.fields["status"]
        for name in ("donor", "acceptor"):
            if not getattr(chosen, name):
                del self.fields[name]

    @property
    def selects(self) -> list[BoundField]:
        """The fields between the search and the check boxes."""
        return [field for field in self.visible_fields() if field.name not in ("text", "held", "stale")]


class LinkFilterForm(forms.Form):
    """Shows what review.releases.outgoing.LinkFilter has read."""

    text = forms.CharField(
        label=_("Address, title or anchor"), max_length=MAX_TEXT, widget=forms.TextInput(attrs={"type": "search"})
    )
    state = forms.ChoiceField(label=_("Show"), choices=State.choices)
    rel = forms.ChoiceField(label="rel", choices=[("", _("Any")), *Rel.choices])
    release = forms.CharField(
        label=_("Added by release"), widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 6})
    )

    def __init__(self, chosen: LinkFilter) -> None:
        initial = {name: getattr(chosen, name) for name in self.base_fields}
        super().__init__(initial=initial, auto_id="%s", use_required_attribute=False)
