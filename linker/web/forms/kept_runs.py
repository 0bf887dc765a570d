"""What people choose of the runs that are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django import forms
from django.utils.translation import gettext_lazy as _

from linker.models.kept_run import LinkChange
from linker.query_strings import is_id

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from linker.models import KeptRun


class PinForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80, required=False)


class CompareQuery:
    """Two kept runs, a kind of change and a place in the list, as an address names them; `run` is the later one.

    Without two runs that are kept, the newest two; `unknown`: the address names others.
    """

    def __init__(self, query: Mapping[str, str], kept: Sequence[KeptRun]) -> None:
        by_id = {run.pk: run for run in kept}
        asked = [int(value) for name in ("run", "before") if is_id(value := query.get(name, ""))]
        chosen = [by_id[pk] for pk in sorted(set(asked) & by_id.keys(), reverse=True)]
        self.unknown = bool(set(asked) - by_id.keys())
        self.is_asked = len(chosen) == 2
        some: Sequence[KeptRun | None] = chosen if self.is_asked else [*kept, None, None]
        self.run, self.before = some[0], some[1]
        change = query.get("change", "")
        self.change = LinkChange(change) if change in LinkChange.values else LinkChange.NEW
        after = query.get("after", "")
        self.after = int(after) if is_id(after) else 0

    @property
    def of_runs(self) -> str:
        """The part of a query string that names both runs."""
        return urlencode({"run": self.run.pk, "before": self.before.pk}) if self.run and self.before else ""
