"""The weights of the stated formula."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from linker.engine.ranking.formula import PENALTIES, FormulaWeights


class FormulaForm(forms.Form):
    """The weights of the stated formula, linker.engine.ranking.formula.FormulaWeights."""

    HELP = {
        "similarity": ("Similarity", "How near the two pages are by meaning."),
        "words": (
            "Words",
            "How near they are by their words, and how much of the acceptor’s title the donor’s text has.",
        ),
        "mention": ("Mention", "A name of the acceptor in the donor’s text: how rare, how whole."),
        "authority": (
            "Authority",
            "The acceptor’s share of searches among its category’s best; counts nothing without Search Console.",
        ),
        "deficit": ("Deficit", "How far the acceptor’s links in lie below its category’s median."),
        "density": ("Density, taken off", "How many of the pages near the donor link there already."),
        "distance": ("Distance, taken off", "For each level of the category tree between the two, at most five."),
    }
    MOST = 10

    def __init__(self, data: Any = None, *, chosen: dict[str, float]) -> None:
        super().__init__(data, initial={**self.defaults(), **chosen})
        for name, default in self.defaults().items():
            label, words = self.HELP[name]
            messages = dict.fromkeys(
                ("required", "invalid"), f"{label.split(',')[0]} needs a number; {default:g} is usual."
            )
            limits = dict.fromkeys(("min_value", "max_value"), f"A weight lies between 0 and {self.MOST}.")
            self.fields[name] = forms.FloatField(
                min_value=0,
                max_value=self.MOST,
                label=label,
                help_text=f"{words} Usual: {default:g}.",
                widget=forms.NumberInput(attrs={"step": "0.01"}),
                error_messages=messages | limits,
            )

    @staticmethod
    def defaults() -> dict[str, float]:
        return asdict(FormulaWeights())

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values[name] for name in values if name not in PENALTIES):
            raise ValidationError("At least one weight that speaks for a link must be above 0.")
        return values

    def weights(self) -> dict[str, float]:
        """What differs from the defaults, so that better defaults reach who never chose."""
        usual = self.defaults()
        return {name: value for name, value in self.cleaned_data.items() if value != usual[name]}
