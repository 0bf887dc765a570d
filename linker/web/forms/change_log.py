"""The filter of the log of changes, and what the log calls the fields of the forms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.apps import apps
from django.utils.choices import flatten_choices
from django.utils.functional import lazy
from django.utils.module_loading import import_string
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from linker.engine.roles.policy import CHOICES as ROLE_CHOICES
from linker.engine.roles.policy import LABELS as PAGE_ROLES
from linker.models import ChangeKind, QuerySource, TrafficSource
from linker.web.forms.caps import SectionCapForm
from linker.web.forms.exclusions import ExclusionForm
from linker.web.forms.fields import KindForm
from linker.web.forms.links import LinkRuleForm
from linker.web.forms.members import MemberForm
from linker.web.forms.projects import ProjectCreateForm, ProjectForm
from linker.web.forms.ranking import FormulaForm
from linker.web.forms.roles import RoleLinksForm, RoleRuleForm
from linker.web.forms.safety import BarredPairForm, GateForm, SafetyClassForm
from linker.web.forms.sensitive import SensitiveForm
from linker.web.forms.tiers import TierForm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_GIVING = (("gives", _("gives")), ("receives", _("receives")))


def _giving(label: str, words: Any) -> str:
    return f"{gettext(label)}: {words}"


_of_a_role = lazy(_giving, str)


# By their paths where they belong to apps that this one does not know.
_FORMS: dict[str, tuple[type[forms.Form | forms.ModelForm] | str, ...]] = {
    ChangeKind.PROJECT: (ProjectForm, ProjectCreateForm),
    ChangeKind.SETTINGS: (ProjectForm, "review.web.views.alerts.LimitsForm"),
    ChangeKind.TIERS: (TierForm,),
    ChangeKind.SENSITIVE: (SensitiveForm,),
    ChangeKind.EXCLUSIONS: (ExclusionForm,),
    ChangeKind.SAFETY: (SafetyClassForm, BarredPairForm),
    ChangeKind.GATES: (GateForm,),
    ChangeKind.CAPS: (SectionCapForm,),
    ChangeKind.ROLES: (RoleRuleForm,),
    ChangeKind.LINKS: (LinkRuleForm,),
    ChangeKind.MEMBERS: (MemberForm,),
    ChangeKind.SOURCES: ("ingest.web.source_forms.SiteSourceForm", "ingest.web.source_forms.MatchScheduleForm"),
    ChangeKind.RELEASE: ("review.web.rollout_forms.RolloutForm",),
}
# Functions that give labels by name, called without arguments.
_LABELS = {
    ChangeKind.IMPORT: "ingest.kinds.registry.count_labels",
    ChangeKind.SOURCES: "ingest.web.option_words.labels",
}
# What the log of changes has and its form does not ask for, or asks for in the middle of a sentence.
_OTHER_LABELS: dict[str, dict[str, Any]] = {
    ChangeKind.PROJECT: {"manager": _("Manager")},
    ChangeKind.SETTINGS: {
        "percent": _("Percent of the suggestions"),
        "cards": _("Cards in a hundred"),
        "query": _("Filter"),
        "note": _("Note"),
        "due": _("Due"),
    },
    ChangeKind.TIERS: {
        "read by": _("Read by"),
        "bounds hold for run": _("Bounds hold for run"),
        "expected share": _("Expected share of approval in the text"),
    },
    ChangeKind.MEMBERS: {"sections": _("Sections"), "invited_by": _("Invited by")},
    ChangeKind.SENSITIVE: {
        "category": _("Category"),
        "url_pattern": _("Addresses that match"),
        "whole_site": _("The whole site"),
        "state": _("Decision"),
    },
    ChangeKind.SAFETY: {
        "category": _("Category"),
        "links": _("Links that may not be made"),
        "reason": _("Why, as editors will read it"),
    },
    ChangeKind.GATES: {
        "category": _("Category"),
        "page_list": _("List of pages"),
        "safety_class": _("Safety class"),
    },
    ChangeKind.ROLES: {
        "pattern": _("Addresses that match"),
        "role by hand": _("Role by hand"),
        **{f"{label} {name}": _of_a_role(label, words) for label in PAGE_ROLES.values() for name, words in _GIVING},
    },
    ChangeKind.COPIES: {"kind": _("Kind"), "pages": _("Pages"), "addresses": _("Addresses")},
    ChangeKind.VECTORS: {"pages": _("Pages"), "bytes": _("Size in bytes"), "text": _("Text read from a page")},
    ChangeKind.IMPORT: {"period": _("Period"), "traffic_source": _("Source"), "query_source": _("Source")},
    ChangeKind.SOURCES: {"kind": _("Kind"), "options": _("Options"), "enabled": _("Switched on")},
    ChangeKind.RELEASE: {
        "category": _("Donors in a category, with everything below it"),
        "pattern": _("Donors whose addresses match"),
        "links": _("Links"),
        "changed": _("Changed"),
        "removed": _("Removed"),
        "held": _("Held back"),
        "format": _("Format"),
        "filters": _("Filter"),
        "sha256": _("SHA-256 of the file"),
        "to_be_removed": _("To be removed"),
        "note": _("Note"),
        "made by": _("Made by"),
        "made at": _("Made at"),
    },
    ChangeKind.RUNS: {"pinned": _("Pinned"), "name": _("Name"), "standing run": _("Run that stands")},
}
# What stored values are called, for fields that no form has as a choice: by the model that has the field.
_MODELS = {
    ChangeKind.SENSITIVE: "linker.SensitiveRule",
    ChangeKind.EXCLUSIONS: "linker.ExclusionRule",
    ChangeKind.ROLES: "linker.RoleRule",
    ChangeKind.COPIES: "linker.PageGroup",
    ChangeKind.MEMBERS: "linker.Membership",
    ChangeKind.SOURCES: "ingest.SiteSource",
    ChangeKind.RELEASE: "review.Release",
}


class ChangeListForm(KindForm):
    def __init__(self, query: Mapping[str, str]) -> None:
        super().__init__(query, [("", _("Everything")), *ChangeKind.choices])


def form_labels(kind: str) -> dict[str, str]:
    """What the log calls the fields that a kind of change has, by name: as the form does by which it is made."""
    labels = dict[str, Any]()
    if kind == ChangeKind.RANKING:
        labels |= {name: label for name, (label, _help) in FormulaForm.HELP.items()}
    for form in _forms(kind):
        labels |= {name: field.label for name, field in form.base_fields.items() if field.label}
    if path := _LABELS.get(ChangeKind(kind)):
        labels.update(import_string(path)())
    labels.update(_OTHER_LABELS.get(ChangeKind(kind), {}))
    return {name: str(label) for name, label in labels.items()}


def value_label(kind: str, name: str, value: str) -> str:
    """What a value of a field is called where it is one of a few; empty where it is none of them."""
    if kind == ChangeKind.ROLES and name.endswith((" gives", " receives")):
        choices: Any = RoleLinksForm.GIVES if name.endswith(" gives") else RoleLinksForm.RECEIVES
    elif kind == ChangeKind.ROLES and name == "role by hand":
        choices = [(role, gettext(label)) for role, label in ROLE_CHOICES]
    else:
        choices = _choices(kind, name)
    return next((str(label) for stored, label in choices if stored == value), "")


def _choices(kind: str, name: str) -> Iterable[tuple[Any, Any]]:
    if kind == ChangeKind.IMPORT:
        return {"traffic_source": TrafficSource.choices, "query_source": QuerySource.choices}.get(name, [])
    for form in _forms(kind):
        field = form.base_fields.get(name)
        if isinstance(field, forms.ChoiceField) and not isinstance(field, forms.ModelChoiceField):
            return flatten_choices(cast("Any", field.choices))
    model = apps.get_model(_MODELS[ChangeKind(kind)]) if ChangeKind(kind) in _MODELS else None
    if kind == ChangeKind.MEMBERS:  # the back office names each role by who has it
        name = "role"
    fields = {field.name: field for field in model._meta.fields} if model is not None else {}
    return fields[name].flatchoices if name in fields else []


def _forms(kind: str) -> list[type[forms.Form | forms.ModelForm]]:
    return [import_string(form) if isinstance(form, str) else form for form in _FORMS.get(kind, ())]
