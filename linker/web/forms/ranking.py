"""The weights of the stated formula."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.engine.ranking.formula_score import PENALTIES, FormulaWeights


class FormulaForm(forms.Form):
    """The weights of the stated formula, linker.engine.ranking.formula_score.FormulaWeights."""

    HELP = {
        "similarity": (gettext_lazy("Similarity"), gettext_lazy("How close the two pages are in meaning.")),
        "words": (
            gettext_lazy("Words"),
            gettext_lazy("How close they are in wording, and how much of the acceptor’s title is in the donor’s text."),
        ),
        "mention": (
            gettext_lazy("Mention"),
            gettext_lazy("How rare and how complete a name of the acceptor in the donor’s text is."),
        ),
        "authority": (
            gettext_lazy("Authority"),
            gettext_lazy(
                "The acceptor’s search impressions, compared with its category’s top page. Needs Search Console."
            ),
        ),
        "deficit": (
            gettext_lazy("Deficit"),
            gettext_lazy("How far the acceptor’s inbound links are below the median of its category."),
        ),
        "density": (
            gettext_lazy("Density, subtracted"),
            gettext_lazy("How many of the pages similar to the donor already link there."),
        ),
        "distance": (
            gettext_lazy("Distance, subtracted"),
            gettext_lazy("The levels of the category tree between the two pages, five at most."),
        ),
    }
    MOST = 10

    def __init__(self, data: Any = None, *, chosen: dict[str, float]) -> None:
        super().__init__(data, initial={**self.defaults(), **chosen})
        for name, default in self.defaults().items():
            label, words = self.HELP[name]
            said = {"name": str(label).split(",")[0], "default": f"{default:g}"}
            missing = _("%(name)s needs a number; the default is %(default)s.") % said
            messages = dict.fromkeys(("required", "invalid"), missing)
            beyond = _("A weight lies between 0 and %(most)d.") % {"most": self.MOST}
            limits = dict.fromkeys(("min_value", "max_value"), beyond)
            self.fields[name] = forms.FloatField(
                min_value=0,
                max_value=self.MOST,
                label=label,
                help_text=_("%(meaning)s Default: %(default)s.") % {"meaning": words, "default": f"{default:g}"},
                widget=forms.NumberInput(attrs={"step": "0.01"}),
                error_messages=messages | limits,
            )

    @staticmethod
    def defaults() -> dict[str, float]:
        return asdict(FormulaWeights())

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values[name] for name in values if name not in PENALTIES):
            raise ValidationError(_("At least one weight that is not subtracted must be above 0."))
        return values

    def changes(self) -> list[tuple[str, float, float]]:
        """The weights that differ from those that count: what each is called, before and after."""
        return [
            (str(self.fields[name].label), self.initial[name], value)
            for name, value in self.cleaned_data.items()
            if value != self.initial[name]
        ]

    def weights(self) -> dict[str, float]:
        """What differs from the defaults, so that better defaults reach who never chose."""
        usual = self.defaults()
        return {name: value for name, value in self.cleaned_data.items() if value != usual[name]}
