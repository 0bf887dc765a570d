"""What pages are for: rules, what each role gives and receives, and the role of one page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from linker.engine.roles.policy import CHOICES as ROLE_CHOICES
from linker.engine.roles.policy import LABELS as PAGE_ROLES
from linker.engine.roles.policy import MEANS, NAMED, Gives, PageRole, Receives, RoleLinks, role_links
from linker.models import RoleRule
from linker.web.forms.fields import AddressRuleForm


class RoleRuleForm(AddressRuleForm):
    class Meta:
        model = RoleRule
        fields = ["pattern", "role", "note"]
        labels = {"role": "Their role", "note": "Note"}

    def clean_pattern(self) -> str:
        pattern = self.cleaned_data["pattern"]
        if RoleRule.objects.filter(project=self.instance.project, pattern=pattern).exists():
            raise ValidationError("There is a rule for this pattern already. Remove it first to give another role.")
        return str(pattern)


class RoleLinksForm(forms.Form):
    """What pages of each role give and receive."""

    GIVES = ((Gives.YES, "in the text and beside it"), (Gives.BESIDE, "beside the text alone"), (Gives.NO, "none"))
    RECEIVES = ((Receives.YES, "yes"), (Receives.NAME, "under its own name alone"), (Receives.NO, "none"))

    def __init__(self, data: Any = None, *, changed: dict[str, dict[str, str]]) -> None:
        links = role_links(changed)
        initial = {f"{role}_{name}": value for role, one in links.items() for name, value in one._asdict().items()}
        super().__init__(data, initial=initial)
        for role, label in PAGE_ROLES.items():
            for name, choices in (("gives", self.GIVES), ("receives", self.RECEIVES)):
                self.fields[f"{role}_{name}"] = forms.ChoiceField(
                    choices=[(value.value, words) for value, words in choices], label=f"{label}: {name}"
                )

    def rows(self) -> list[tuple[str, str, forms.BoundField, forms.BoundField]]:
        """A role's label, what it means, and its two fields."""
        return [
            (label, MEANS[role], self[f"{role}_gives"], self[f"{role}_receives"]) for role, label in PAGE_ROLES.items()
        ]

    def chosen(self) -> dict[PageRole, RoleLinks]:
        values = self.cleaned_data
        return {
            role: RoleLinks(Gives(values[f"{role}_gives"]), Receives(values[f"{role}_receives"])) for role in PAGE_ROLES
        }


class PageRoleForm(forms.Form):
    """The role of one page, by hand; empty takes it back."""

    role = forms.ChoiceField(required=False, choices=[("", "As found"), *ROLE_CHOICES])

    def chosen(self) -> PageRole | None:
        return PageRole(self.cleaned_data["role"]) if self.cleaned_data["role"] else None

    def chosen_in_words(self) -> str:
        """What the page counts as now, as a sentence begins."""
        chosen = self.chosen()
        return f"The page now counts as {NAMED[chosen]}" if chosen else "The page has the role that was found for it"
