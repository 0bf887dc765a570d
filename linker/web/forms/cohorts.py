"""Where the tiers of a basis begin for the links of one category or role."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.engine.roles.policy import CHOICES
from linker.models import Basis
from linker.projects.tier_effect import NOT_USED, Bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from linker.models import Category


class CohortBoundsForm(forms.Form):
    """A field for each tier: where it begins, or nothing where it is not used."""

    def __init__(self, tiers: Sequence[Bound], basis: Basis, data: Mapping[str, str] | None = None) -> None:
        super().__init__(data, auto_id="%s")
        self.tiers = tiers
        lowest = -1.0 if basis == Basis.COSINE else 0.0
        for tier in tiers:
            self.fields[_field(tier)] = forms.FloatField(
                label=gettext_lazy("Lower bound"),
                required=False,
                min_value=lowest,
                max_value=1.0,
                initial=tier.lower if tier.is_used else None,
                widget=forms.NumberInput(attrs={"step": "0.01", "min": lowest, "max": 1}),
            )

    def rows(self) -> list[tuple[Bound, forms.BoundField]]:
        return [(tier, self[_field(tier)]) for tier in self.tiers]

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        seen: set[float] = set()
        for tier in self.tiers:
            value = values.get(_field(tier))
            if value is not None and value in seen:
                said = _("Two tiers start at %(value)s: they must differ.")
                self.add_error(_field(tier), said % {"value": f"{value:g}"})
            seen |= set() if value is None else {value}
        if not seen and not self.errors:
            raise ValidationError(_("Say where one tier begins at least, or remove these bounds."))
        return values

    def bounds(self) -> list[Bound]:
        """The tiers as they would be, once the form is valid."""
        lowers = [self.cleaned_data.get(_field(tier)) for tier in self.tiers]
        return [
            Bound(tier.tier, tier.name, NOT_USED if lower is None else lower, tier.held)
            for tier, lower in zip(self.tiers, lowers, strict=True)
        ]


def _field(tier: Bound) -> str:
    return f"{tier.tier}-lower_bound"


def former_bounds(bounds: Mapping[int, float]) -> list[tuple[str, str]]:
    """The fields of a form that sets these bounds again, or removes those that there are."""
    return [(f"{tier}-lower_bound", repr(lower)) for tier, lower in bounds.items()] or [("remove", "1")]


def bounds_as_text(bounds: Mapping[int, float]) -> str:
    """Bounds of tiers as one field of a form that takes a change back."""
    return " ".join(f"{tier}={lower!r}" for tier, lower in bounds.items())


def bounds_of_text(text: str | None) -> dict[int, float] | None:
    """The inverse; None where the field was not sent, or holds no such bounds."""
    if text is None:
        return None
    try:
        found = {int(tier): float(lower) for tier, lower in (part.split("=") for part in text.split())}
    except ValueError:
        return None
    return found if all(0 <= lower <= 1 for lower in found.values()) else None


class CohortChoiceForm(forms.Form):
    """What is to have bounds of its own: a category or a role."""

    category = forms.ChoiceField(label=gettext_lazy("Links from a category, with all below it"), required=False)
    role = forms.ChoiceField(label=gettext_lazy("or links to pages with a role"), required=False)

    def __init__(self, categories: Iterable[Category], initial: dict[str, Any]) -> None:
        super().__init__(initial=initial, auto_id="of-%s")
        category, role = self.fields["category"], self.fields["role"]
        assert isinstance(category, forms.ChoiceField)
        assert isinstance(role, forms.ChoiceField)
        category.choices = [("", _("No category")), *((one.pk, str(one)) for one in categories)]
        role.choices = [("", _("No role")), *self.roles()]

    @staticmethod
    def roles() -> list[tuple[str, str]]:
        return [(value, _(label)) for value, label in CHOICES]
