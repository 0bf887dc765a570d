"""The filters of the list of copies and variants."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from linker.models import TwinKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.pages.copies import CopiesQuery

KINDS = {
    TwinKind.COPY: _("Near-copies"),
    TwinKind.VARIANT: _("Variants"),
    TwinKind.TRANSLATION: _("Translations"),
}


class CopiesForm(forms.Form):
    """Shows what linker.pages.copies.CopiesQuery has read from the address; it judges nothing."""

    q = forms.CharField(label=_("Title or address"), max_length=500, widget=forms.TextInput(attrs={"type": "search"}))
    kind = forms.ChoiceField(label=_("Kind"))

    def __init__(self, chosen: CopiesQuery, counts: Mapping[str, int]) -> None:
        """`counts`: how many groups there are of each kind."""
        super().__init__(initial={"q": chosen.text, "kind": chosen.kind}, auto_id="%s", use_required_attribute=False)
        field = self.fields["kind"]
        assert isinstance(field, forms.ChoiceField)
        every = gettext("All kinds (%(groups)s)") % {"groups": intcomma(sum(counts.values()))}
        field.choices = [
            ("", every),
            *((kind, f"{name} ({intcomma(counts.get(kind, 0))})") for kind, name in KINDS.items()),
        ]
