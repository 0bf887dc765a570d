"""The filter of the list of runs."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _

from linker.models.run import kind_label
from linker.runs.kinds import run_kinds
from linker.web.forms.fields import KindForm


class RunListForm(KindForm):
    def kinds(self) -> list[tuple[str, Any]]:
        return [("", _("All")), *((kind, kind_label(kind)) for kind in run_kinds())]
