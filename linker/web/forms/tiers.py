"""The tiers of a basis."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import BaseModelFormSet, modelformset_factory

from linker.models import Basis, Project, Tier


class TierForm(forms.ModelForm):
    """A tier of a basis, which the instance says; the bound has to lie within what the basis can be."""

    class Meta:
        model = Tier
        fields = ["name", "lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held"]

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
            what = "A probability" if basis == Basis.PROBABILITY else "A share of the run"
            self.add_error("lower_bound", f"{what} lies between 0 and 1.")
        if values.get("held") and values.get("export_unreviewed"):
            raise ValidationError("A tier that is held back cannot be exported unreviewed: choose one of the two.")
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
            raise ValidationError("A basis needs at least one tier.")
        for field, what in (("lower_bound", "start at"), ("name", "are called")):
            seen: set[Any] = set()
            for form in kept:
                value = form.cleaned_data.get(field)
                if value in seen:
                    form.add_error(field, f"Two tiers {what} {value}: they must differ.")
                seen.add(value)

    def validate_unique(self) -> None:
        """Left to clean(): the database's rows are no yardstick while several of them change at once."""


def tier_formset(project: Project, basis: str, data: Any = None) -> TierFormSetBase:
    factory = modelformset_factory(Tier, form=TierForm, formset=TierFormSetBase, extra=1, can_delete=True, max_num=20)
    tiers = Tier.objects.filter(project=project, basis=basis)
    return factory(data, queryset=tiers, prefix="tiers", form_kwargs={"basis": basis})  # type: ignore[return-value]
