"""The weights of the stated formula."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from linker.engine.ranking.formula_score import PENALTIES, FormulaWeights


class FormulaForm(forms.Form):
    """The weights of the stated formula, linker.engine.ranking.formula_score.FormulaWeights."""

    HELP = {
        "similarity": ("Similarity", "How close the two pages are in meaning."),
        "words": (
            "Words",
            "How close they are in wording, and how much of the acceptor’s title is in the donor’s text.",
        ),
        "mention": ("Mention", "How rare and how complete a name of the acceptor in the donor’s text is."),
        "authority": (
            "Authority",
            "The acceptor’s search impressions, compared with its category’s top page. Needs Search Console.",
        ),
        "deficit": ("Deficit", "How far the acceptor’s inbound links are below the median of its category."),
        "density": ("Density, subtracted", "How many of the pages similar to the donor already link there."),
        "distance": ("Distance, subtracted", "The levels of the category tree between the two pages, five at most."),
    }
    MOST = 10

    def __init__(self, data: Any = None, *, chosen: dict[str, float]) -> None:
        super().__init__(data, initial={**self.defaults(), **chosen})
        for name, default in self.defaults().items():
            label, words = self.HELP[name]
            messages = dict.fromkeys(
                ("required", "invalid"), f"{label.split(',')[0]} needs a number; the default is {default:g}."
            )
            limits = dict.fromkeys(("min_value", "max_value"), f"A weight lies between 0 and {self.MOST}.")
            self.fields[name] = forms.FloatField(
                min_value=0,
                max_value=self.MOST,
                label=label,
                help_text=f"{words} Default: {default:g}.",
                widget=forms.NumberInput(attrs={"step": "0.01"}),
                error_messages=messages | limits,
            )

    @staticmethod
    def defaults() -> dict[str, float]:
        return asdict(FormulaWeights())

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values[name] for name in values if name not in PENALTIES):
            raise ValidationError("At least one weight that is not subtracted must be above 0.")
        return values

    def weights(self) -> dict[str, float]:
        """What differs from the defaults, so that better defaults reach who never chose."""
        usual = self.defaults()
        return {name: value for name, value in self.cleaned_data.items() if value != usual[name]}
