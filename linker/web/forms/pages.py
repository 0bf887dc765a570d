"""The filters of the list of pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext_lazy as _

from linker.models import Category
from linker.pages.listing import ORDERS, SHOW
from linker.pages.roles import role_choices
from linker.web.forms.fields import SinceField, categories_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from linker.models import Project
    from linker.pages.listing import PageListFilter


class PageListForm(forms.Form):
    """Shows what linker.pages.listing.PageListFilter has read from the address; it judges nothing."""

    q = forms.CharField(label=_("Title or address"), max_length=200, widget=forms.TextInput(attrs={"type": "search"}))
    category = forms.ModelChoiceField(queryset=Category.objects.none(), empty_label=_("All categories"))
    role = forms.ChoiceField()
    language = forms.ChoiceField()
    show = forms.ChoiceField(choices=[(key, label) for key, (label, _) in SHOW.items()])
    since = SinceField()
    order = forms.ChoiceField(choices=[(key, label) for key, (label, *_) in ORDERS.items()])
    sensitive = forms.IntegerField(widget=forms.HiddenInput)

    def __init__(self, project: Project, chosen: PageListFilter, languages: Sequence[tuple[str, str]]) -> None:
        initial: dict[str, Any] = {name: getattr(chosen, name) for name in ("category", "role", "language", "show")}
        initial |= {"q": chosen.text, "since": chosen.since, "order": chosen.order, "sensitive": chosen.rule}
        super().__init__(initial=initial, auto_id="%s", use_required_attribute=False)
        categories, role, language = (self.fields[name] for name in ("category", "role", "language"))
        assert isinstance(categories, forms.ModelChoiceField)
        assert isinstance(role, forms.ChoiceField)
        assert isinstance(language, forms.ChoiceField)
        categories.queryset = categories_of(project)
        roles = [(key, f"{label} ({pages:,})") for key, label, pages in role_choices(project)]
        role.choices = [("", _("All roles")), *roles]
        language.choices = [("", _("All languages")), *languages]
        if not languages:
            del self.fields["language"]
        if not chosen.rule:
            del self.fields["sensitive"]
