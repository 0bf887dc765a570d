"""Fields, and forms, that several screens share. Every pattern is checked as RE2, with the column of the fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy
from django.utils.translation import gettext_lazy as _

from linker.engine.patterns import PatternError, compile_pattern
from linker.models import Category, Project
from linker.query_strings import unknown_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet


def check_pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except PatternError as error:
        raise ValidationError(str(error)) from None
    return text


class SinceField(forms.DateField):
    """A day from which on something is new."""

    def __init__(self, **kwargs: Any) -> None:
        day = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")  # the only form that browsers take
        super().__init__(**{"label": _("New since"), "widget": day, **kwargs})


class PatternField(forms.CharField):
    """One RE2 expression, searched in the address."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"class": "mono", "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
        kwargs.setdefault("widget", forms.TextInput(attrs=attrs))
        super().__init__(**{"max_length": 300, "strip": False, **kwargs})

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return check_pattern(text) if text else ""


class LinesField(forms.CharField):
    """A list, one entry a line; empty lines are left out."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "mono"})

    def __init__(self, *, entry_length: int, patterns: bool = False, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, **kwargs)
        self.entry_length, self.patterns = entry_length, patterns

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        entries, faults = [], []
        for number, line in enumerate(super().clean(value).splitlines(), start=1):
            entry = line if self.patterns else line.strip()
            if not entry.strip():
                continue
            if len(entry) > self.entry_length:
                said = {"line": number, "length": len(entry), "most": self.entry_length}
                faults.append(_("Line %(line)d has %(length)d characters; %(most)d are allowed.") % said)
            elif self.patterns:
                try:
                    compile_pattern(entry)
                except PatternError as error:
                    problem = f"{str(error)[:1].lower()}{str(error)[1:]}"
                    faults.append(_("Line %(line)d, %(problem)s") % {"line": number, "problem": problem})
            entries.append(entry)
        if faults:
            raise ValidationError(faults)
        return entries


class KindForm(forms.Form):
    """The kind of entries that a list shows: what its address says, or all where there is no such kind.

    `kinds` have their labels; the first is empty and stands for all. `chosen` is the kind, or empty; `ignored` names
    what of the address was left out.
    """

    kind = forms.ChoiceField(label=gettext_lazy("Kind"))

    def __init__(self, query: Mapping[str, str], kinds: list[tuple[str, Any]]) -> None:
        asked = query.get("kind", "")
        is_known = asked in dict(kinds)
        self.chosen = asked if is_known else ""
        self.ignored = (*(() if is_known else ("kind",)), *unknown_fields(query, {"kind", "before"}))
        super().__init__(initial={"kind": self.chosen}, auto_id="%s", use_required_attribute=False)
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = kinds


def categories_of(project: Project) -> QuerySet[Category]:
    return Category.objects.filter(project=project).order_by("path")


class AddressRuleForm(forms.ModelForm):
    """What a project says of all addresses that match a pattern."""

    pattern = PatternField(label=_("Addresses that match"))

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
