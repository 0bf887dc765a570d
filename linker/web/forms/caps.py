"""Caps on the links of a section's pages."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from linker.models import Project, SectionCap
from linker.models.section_cap import MOST_LINKS
from linker.models.subtrees import nearby
from linker.web.forms.fields import categories_of

NUMBERS = ("inline_in_all", "related_in_all", "per_1000_words")


class SectionCapForm(forms.ModelForm):
    class Meta:
        model = SectionCap
        fields = ["category", *NUMBERS]
        labels = {
            "category": gettext_lazy("Section, with all below it"),
            "inline_in_all": gettext_lazy("Most links in a page’s text"),
            "related_in_all": gettext_lazy("Most links beside the text"),
            "per_1000_words": gettext_lazy("Most links in the text for each 1,000 words"),
        }
        help_texts = {
            "inline_in_all": gettext_lazy("With those on the site. 0: no new link; empty: as above this section."),
            "related_in_all": gettext_lazy("With those on the site. 0: no new link; empty: as above this section."),
            "per_1000_words": gettext_lazy("With those on the site. 7 is a link for about 140 words."),
        }

    def __init__(self, *args: Any, project: Project, opened: int | None = None, **kwargs: Any) -> None:
        """`opened`: the category at which a large tree is opened."""
        super().__init__(*args, **kwargs)
        self.instance.project = project
        category = self.fields["category"]
        assert isinstance(category, forms.ModelChoiceField)
        category.queryset, category.empty_label = categories_of(project), _("The whole site")
        chosen = self.instance.category_id or opened
        category.choices = [("", _("The whole site")), *((one.pk, str(one)) for one in nearby(project, chosen))]
        for name in NUMBERS:
            self.fields[name].widget.attrs |= {"min": 0, "max": MOST_LINKS}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and all(values.get(name) is None for name in NUMBERS):
            said = _("Fill in one number at least: a section without any has no caps of its own.")
            self.add_error("inline_in_all", said)
        return values
