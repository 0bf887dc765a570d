"""Safety classes, and the pairs of them that may never be linked."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import BarredPair, Gate, PageList, Project, SafetyClass
from linker.models.subtrees import nearby
from linker.web.forms.fields import PatternField, categories_of

PARTS = ("category", "url_pattern", "page_list")
GATES = ("min_clicks", "category", "page_list", "safety_class")


class SafetyClassForm(forms.ModelForm):
    url_pattern = PatternField(required=False, label=gettext_lazy("Addresses that match"))

    class Meta:
        model = SafetyClass
        fields = ["name", *PARTS, "disclaimer"]
        labels = {
            "name": gettext_lazy("Name"),
            "category": gettext_lazy("A category, with all below it"),
            "page_list": gettext_lazy("A list of pages"),
            "disclaimer": gettext_lazy("Disclaimer"),
        }
        help_texts = {
            "page_list": gettext_lazy("Lists are uploaded on the page “Match”."),
            "disclaimer": gettext_lazy("Stands on the card of every link from or to these pages."),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prefix = "class"
        self.instance.project = project
        category, page_list = self.fields["category"], self.fields["page_list"]
        assert isinstance(category, forms.ModelChoiceField)
        assert isinstance(page_list, forms.ModelChoiceField)
        category.queryset, category.empty_label = categories_of(project), _("No category")
        offered = nearby(project, self.instance.category_id)
        category.choices = [("", _("No category")), *((one.pk, str(one)) for one in offered)]
        page_list.queryset = PageList.objects.filter(project=project).defer("pages")
        page_list.empty_label = _("No list")

    def clean_name(self) -> str:
        name = self.cleaned_data["name"]
        others = SafetyClass.objects.filter(project=self.instance.project, ended_at=None).exclude(pk=self.instance.pk)
        if others.filter(name__iexact=name).exists():
            raise ValidationError(_("A class has this name already."))
        return name

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values.get(name) for name in PARTS):
            raise ValidationError(_("Choose a category, write a pattern or choose a list: one of them at least."))
        return values


class BarredPairForm(forms.ModelForm):
    either = forms.ChoiceField(
        label=gettext_lazy("Links that may not be made"),
        choices=[
            ("", gettext_lazy("from the first to the second")),
            ("1", gettext_lazy("from either to the other")),
        ],
        required=False,
    )

    class Meta:
        model = BarredPair
        fields = ["source", "target", "either", "reason"]
        labels = {
            "source": gettext_lazy("First class"),
            "target": gettext_lazy("Second class"),
            "reason": gettext_lazy("Why, as editors will read it"),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prefix = "pair"
        self.instance.project = project
        for name in ("source", "target"):
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset = SafetyClass.objects.filter(project=project, ended_at=None).order_by("name")
            field.empty_label = _("Choose a class")

    def clean_either(self) -> bool:
        return bool(self.cleaned_data["either"])


class GateForm(forms.ModelForm):
    class Meta:
        model = Gate
        fields = [*GATES]
        labels = {
            "min_clicks": gettext_lazy("Pages with at least so many clicks"),
            "category": gettext_lazy("or a category, with everything below it"),
            "page_list": gettext_lazy("or a list of pages"),
            "safety_class": gettext_lazy("or a safety class"),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.prefix = "gate"
        self.instance.project = project
        self.fields["min_clicks"].widget.attrs["min"] = 1
        offered = {
            "category": (categories_of(project), _("No category")),
            "page_list": (PageList.objects.filter(project=project).defer("pages"), _("No list")),
            "safety_class": (
                SafetyClass.objects.filter(project=project, ended_at=None).order_by("name"),
                _("No class"),
            ),
        }
        for name, (queryset, empty) in offered.items():
            field = self.fields[name]
            assert isinstance(field, forms.ModelChoiceField)
            field.queryset, field.empty_label = queryset, empty
        category = self.fields["category"]
        assert isinstance(category, forms.ModelChoiceField)
        category.choices = [("", _("No category")), *((one.pk, str(one)) for one in nearby(project, None))]

    def clean_min_clicks(self) -> int | None:
        return self.cleaned_data["min_clicks"] or None

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and sum(bool(values.get(name)) for name in GATES) != 1:
            raise ValidationError(_("Say exactly one: clicks, a category, a list or a class."))
        return values
