"""Addresses that neither give nor receive links."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from linker.models import ExclusionRule
from linker.web.forms.fields import AddressRuleForm, PatternField


class ExclusionForm(AddressRuleForm):
    class Meta:
        model = ExclusionRule
        fields = ["pattern", "side", "note"]
        labels = {"side": _("Leave them out as"), "note": _("Note")}


class PatternPreviewForm(forms.Form):
    """The pattern whose matches are shown while it is typed."""

    pattern = PatternField(required=False)
