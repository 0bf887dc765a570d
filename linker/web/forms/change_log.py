"""The filter of the log of changes, and what the log calls the fields of the forms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from linker.models import ChangeKind
from linker.web.forms.exclusions import ExclusionForm
from linker.web.forms.fields import KindForm
from linker.web.forms.members import MemberForm
from linker.web.forms.projects import ProjectCreateForm, ProjectForm
from linker.web.forms.ranking import FormulaForm
from linker.web.forms.sensitive import SensitiveForm
from linker.web.forms.tiers import TierForm

if TYPE_CHECKING:
    from collections.abc import Mapping

_FORMS: dict[str, tuple[type[forms.Form | forms.ModelForm], ...]] = {
    ChangeKind.PROJECT: (ProjectForm, ProjectCreateForm),
    ChangeKind.SETTINGS: (ProjectForm,),
    ChangeKind.TIERS: (TierForm,),
    ChangeKind.SENSITIVE: (SensitiveForm,),
    ChangeKind.EXCLUSIONS: (ExclusionForm,),
    ChangeKind.MEMBERS: (MemberForm,),
}
# What the log of changes has and its form does not ask for, or asks for as one of several.
_OTHER_LABELS = {
    ChangeKind.MEMBERS: {"sections": _("Sections"), "invited_by": _("Invited by")},
    ChangeKind.SENSITIVE: {
        "category": _("Category"),
        "url_pattern": _("Addresses that match"),
        "whole_site": _("The whole site"),
        "state": _("Decision"),
    },
}


class ChangeListForm(KindForm):
    def __init__(self, query: Mapping[str, str]) -> None:
        super().__init__(query, [("", _("Everything")), *ChangeKind.choices])


def form_labels(kind: str) -> dict[str, str]:
    """The labels of the form by which a kind of change is made, by field; empty where there is no form."""
    labels = (
        {name: str(label) for name, (label, _help) in FormulaForm.HELP.items()} if kind == ChangeKind.RANKING else {}
    )
    for form in _FORMS.get(kind, ()):
        labels |= {name: str(field.label) for name, field in form.base_fields.items() if field.label}
    return labels | {name: str(label) for name, label in _OTHER_LABELS.get(ChangeKind(kind), {}).items()}
