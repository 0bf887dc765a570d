"""The tiers of a basis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import BaseModelFormSet, modelformset_factory
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import Basis, Project, Tier
from linker.projects.tier_preview import Bound

if TYPE_CHECKING:
    from collections.abc import Sequence

CHECKS = ("export_unreviewed", "held")
LEAST_WIDTH = 0.02  # of a tier: one of a hundredth says no more than the one above it


class TierForm(forms.ModelForm):
    """A tier of a basis, which the instance says; the bound has to lie within what the basis can be."""

    class Meta:
        model = Tier
        fields = ["name", "lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held"]
        labels = {
            "name": gettext_lazy("Name"),
            "lower_bound": gettext_lazy("Lower bound"),
            "placement": gettext_lazy("Placement"),
            "rel": gettext_lazy("Rel while unreviewed"),
            "confirmed_rel": gettext_lazy("Rel once accepted"),
            "export_unreviewed": gettext_lazy("May be exported unreviewed"),
            "held": gettext_lazy("Held back"),
        }
        help_texts = {
            "held": gettext_lazy("Kept out of the queue until asked for"),
            "placement": gettext_lazy("Links that the text has no words or no room for go beside it."),
        }

    def __init__(self, *args: Any, basis: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if basis is not None:
            self.instance.basis = basis
        lowest = -1 if self.instance.basis == Basis.COSINE else 0
        self.fields["lower_bound"].widget = forms.NumberInput(attrs={"step": "0.01", "min": lowest, "max": 1})

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        basis, bound = values.get("basis") or self.instance.basis, values.get("lower_bound")
        if bound is not None and basis != Basis.COSINE and bound < 0:
            is_probability = basis == Basis.PROBABILITY
            probability, share = _("A probability lies between 0 and 1."), _("A share of the run lies between 0 and 1.")
            self.add_error("lower_bound", probability if is_probability else share)
        if values.get("held") and values.get("export_unreviewed"):
            raise ValidationError(_("A tier that is held back cannot be exported unreviewed: choose one of the two."))
        return values


class TierFormSetBase(BaseModelFormSet):
    """All tiers of one basis at once, so that bounds can be moved past each other."""

    def clean(self) -> None:
        super().clean()
        kept = [
            form
            for form in self.forms
            if getattr(form, "cleaned_data", None)
            and not form.cleaned_data.get("DELETE")
            and form.cleaned_data.get("name")
        ]
        if not kept:
            raise ValidationError(_("A basis needs at least one tier."))
        at, called = (
            _("Two tiers start at %(value)s: they must differ."),
            _("Two tiers are called %(value)s: they must differ."),
        )
        for field, problem in (("lower_bound", at), ("name", called)):
            seen: set[Any] = set()
            for form in kept:
                value = form.cleaned_data.get(field)
                if value in seen:
                    form.add_error(field, problem % {"value": value})
                seen.add(value)

        self._refuse_narrow(kept)

    def _refuse_narrow(self, kept: Sequence[forms.ModelForm]) -> None:
        """A tier that ends where it has hardly begun is the one above it under another name."""
        bound = {form: form.cleaned_data["lower_bound"] for form in kept if "lower_bound" in form.cleaned_data}
        above = None
        for form in sorted(bound, key=lambda form: -bound[form]):
            if above is not None and 0 < round(bound[above] - bound[form], 6) < LEAST_WIDTH:
                said = _("Hardly a suggestion would be in this tier: let it begin at least 0.02 below “%(tier)s”.")
                form.add_error("lower_bound", said % {"tier": above.cleaned_data["name"]})
            above = form

    def bounds(self) -> list[Bound]:
        """The tiers as they would be, once the forms are valid."""
        return [
            Bound(form.instance.pk, values["name"], values["lower_bound"], values["held"], values["placement"])
            for form in self.forms
            if (values := form.cleaned_data).get("name") and not values.get("DELETE")
        ]

    def validate_unique(self) -> None:
        """Left to clean(): the database's rows are no yardstick while several of them change at once."""


def tier_formset(project: Project, basis: str, data: Any = None) -> TierFormSetBase:
    factory = modelformset_factory(Tier, form=TierForm, formset=TierFormSetBase, extra=1, can_delete=True, max_num=20)
    tiers = Tier.objects.filter(project=project, basis=basis)
    return factory(data, queryset=tiers, prefix="tiers", form_kwargs={"basis": basis})  # type: ignore[return-value]


def former_values(project: Project, basis: str, former: Sequence[Tier]) -> list[tuple[str, str]]:
    """The fields of a formset that makes the tiers of a basis again what they were."""
    known = {tier.pk: tier for tier in former}
    now = list(Tier.objects.filter(project=project, basis=basis).order_by("pk"))
    there = {tier.pk for tier in now}
    forms = [(known.get(tier.pk, tier), {"id": str(tier.pk)}, tier.pk not in known) for tier in now]
    forms += [(tier, {}, False) for tier in former if tier.pk not in there]
    fields = [("tiers-TOTAL_FORMS", str(len(forms))), ("tiers-INITIAL_FORMS", str(len(now)))]
    for place, (tier, values, is_new) in enumerate(forms):
        values |= {name: str(getattr(tier, name)) for name in TierForm.Meta.fields if name not in CHECKS}
        values |= {name: "on" for name in CHECKS if getattr(tier, name)} | ({"DELETE": "on"} if is_new else {})
        fields += [(f"tiers-{place}-{name}", value) for name, value in values.items()]
    return fields
