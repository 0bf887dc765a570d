"""How far links of a section leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.web.forms.fields import PatternField, categories_of
from review.models import RolloutRule, Stage

if TYPE_CHECKING:
    from linker.models import Project


class RolloutForm(forms.ModelForm):
    pattern = PatternField(required=False, label=gettext_lazy("or donors whose addresses match"))
    share = forms.IntegerField(
        min_value=1, max_value=99, initial=10, required=False, label=gettext_lazy("Share of donors in a pilot, percent")
    )

    class Meta:
        model = RolloutRule
        fields = ["category", "pattern", "stage", "share"]
        labels = {
            "category": gettext_lazy("Donors in a category, with everything below it"),
            "stage": gettext_lazy("New links"),
        }

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        field = self.fields["category"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset, field.empty_label = categories_of(project), _("No category")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and bool(values.get("category")) == bool(values.get("pattern")):
            self.add_error("category", _("Choose a category or enter a pattern: exactly one of the two."))
        if values.get("stage") == Stage.PILOT and not values.get("share") and "share" not in self.errors:
            self.add_error("share", _("Say for how many percent of the donors links leave."))
        values["share"] = values.get("share") or 10
        return values

    def validate_unique(self) -> None:
        """A rule on the same category or pattern is replaced."""
