"""A rule on what links count as."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import CountsAs, LinkRule, Project, ReadAs
from linker.pages.link_rules import MOST_RULES, rules_of
from linker.pages.link_words import fold, says_nothing
from linker.web.forms.fields import PatternField

WHICH = ("source_pattern", "target_pattern", "words")


class LinkRuleForm(forms.ModelForm):
    source_pattern = PatternField(label=gettext_lazy("Donors whose addresses match"), required=False)
    target_pattern = PatternField(label=gettext_lazy("Acceptors whose addresses match"), required=False)
    read_as = forms.ChoiceField(
        label=gettext_lazy("Found"), choices=[("", gettext_lazy("anywhere")), *ReadAs.choices], required=False
    )
    counts_as = forms.ChoiceField(label=gettext_lazy("They count as"), choices=CountsAs.choices)

    class Meta:
        model = LinkRule
        fields = [*WHICH, "read_as", "counts_as", "note"]
        labels = {"words": gettext_lazy("Linked words"), "note": gettext_lazy("Note")}
        help_texts = {
            "words": gettext_lazy(
                "All the words of the link. Capitals do not matter, and * stands for any words: *read more*. "
                "Write \\* for a star itself."
            )
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project

    def clean_words(self) -> str:
        words = " ".join(self.cleaned_data["words"].split())
        if says_nothing(words):
            raise ValidationError(
                _("Write words beside the *, or leave the field empty: * alone stands for any words.")
            )
        return words

    def clean(self) -> dict[str, Any]:
        values = super().clean() or {}
        if self.errors:
            return values
        if not any(values[name] for name in WHICH):
            raise ValidationError(
                _("Fill in an address or words: a rule for all links would leave none to tell apart.")
            )
        rules = rules_of(self.instance.project)
        if len(rules) >= MOST_RULES:
            raise ValidationError(
                _("A project has at most %(most)d rules for links. Remove one first.") % {"most": MOST_RULES}
            )
        if _which(self.cleaned_data) in [_which(vars(rule)) for rule in rules]:
            raise ValidationError(
                _("There is a rule for these links already. Remove it first to change what they count as.")
            )
        return values


def _which(rule: dict[str, Any]) -> tuple[str, str, str, str]:
    return rule["source_pattern"], rule["target_pattern"], fold(rule["words"]), rule["read_as"]
