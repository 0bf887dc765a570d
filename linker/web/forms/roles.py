"""What pages are for: rules, what each role gives and receives, and the role of one page."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.engine.roles.policy import CHOICES as ROLE_CHOICES
from linker.engine.roles.policy import LABELS as PAGE_ROLES
from linker.engine.roles.policy import MEANS, NAMED, Gives, PageRole, Receives, RoleLinks
from linker.models import RoleRule
from linker.web.forms.fields import AddressRuleForm


class RoleRuleForm(AddressRuleForm):
    class Meta:
        model = RoleRule
        fields = ["pattern", "role", "note"]
        labels = {"role": gettext_lazy("Their role"), "note": gettext_lazy("Note")}

    def clean_pattern(self) -> str:
        pattern = self.cleaned_data["pattern"]
        if RoleRule.objects.filter(project=self.instance.project, pattern=pattern).exists():
            raise ValidationError(_("There is a rule for this pattern already. Remove it first to give another role."))
        return str(pattern)


class RoleLinksForm(forms.Form):
    """What pages of each role give and receive."""

    GIVES = (
        (Gives.YES, gettext_lazy("in the text and beside it")),
        (Gives.BESIDE, gettext_lazy("beside the text alone")),
        (Gives.NO, gettext_lazy("none")),
    )
    RECEIVES = (
        (Receives.YES, gettext_lazy("yes")),
        (Receives.NAME, gettext_lazy("under its own name alone")),
        (Receives.NO, gettext_lazy("none")),
    )

    def __init__(self, data: Any = None, *, links: dict[PageRole, RoleLinks]) -> None:
        """`links`: what they give and receive now."""
        initial = {f"{role}_{name}": value for role, one in links.items() for name, value in one._asdict().items()}
        super().__init__(data, initial=initial)
        words_of = {"gives": _("gives"), "receives": _("receives")}
        for role, label in PAGE_ROLES.items():
            for name, choices in (("gives", self.GIVES), ("receives", self.RECEIVES)):
                self.fields[f"{role}_{name}"] = forms.ChoiceField(
                    choices=[(value.value, words) for value, words in choices], label=f"{_(label)}: {words_of[name]}"
                )

    def rows(self) -> list[tuple[str, str, forms.BoundField, forms.BoundField]]:
        """A role's label, what it means, and its two fields."""
        return [
            (_(label), _(MEANS[role]), self[f"{role}_gives"], self[f"{role}_receives"])
            for role, label in PAGE_ROLES.items()
        ]

    def chosen(self) -> dict[PageRole, RoleLinks]:
        values = self.cleaned_data
        return {
            role: RoleLinks(Gives(values[f"{role}_gives"]), Receives(values[f"{role}_receives"])) for role in PAGE_ROLES
        }


class PageRoleForm(forms.Form):
    """The role of one page, by hand; empty takes it back."""

    role = forms.ChoiceField(
        required=False, choices=lambda: [("", _("As found")), *((role, _(label)) for role, label in ROLE_CHOICES)]
    )

    def chosen(self) -> PageRole | None:
        return PageRole(self.cleaned_data["role"]) if self.cleaned_data["role"] else None

    def chosen_in_words(self) -> str:
        """What the page counts as now, as a sentence begins."""
        chosen = self.chosen()
        if chosen is None:
            return _("The page has the role that was found for it")
        return _("The page now counts as %(role)s") % {"role": _(NAMED[chosen])}
