"""The filter of the list of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _

from linker.models.run import kind_label
from linker.runs.kinds import run_kinds
from linker.web.forms.fields import KindForm

if TYPE_CHECKING:
    from collections.abc import Mapping


class RunListForm(KindForm):
    def __init__(self, query: Mapping[str, str]) -> None:
        super().__init__(query, [("", _("All")), *((kind, kind_label(kind)) for kind in run_kinds())])
