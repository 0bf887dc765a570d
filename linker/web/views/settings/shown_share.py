"""More links, or surer ones: how sure the list of suggestions is to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from linker.errors import UserError
from linker.models import Basis, Role, Run
from linker.projects import access
from linker.projects.policies.retier import change_under_way
from linker.projects.policies.tiers import change_tiers
from linker.projects.shown_share import SHARES, Shown, ShownShares, beside_share
from linker.web.forms.cohorts import bounds_as_text
from linker.web.forms.tiers import former_values
from linker.web.views.settings.tab import FORM, render_tab
from linker.web.views.settings.tiers import moves_of
from linker.web.views.settings.undo import offer_undo

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

TAB = "settings_tiers"
NAMES = dict(
    zip(
        SHARES,
        (
            gettext_lazy("Many, with weaker ones among them"),
            gettext_lazy("As many as are worth a look"),
            gettext_lazy("Balanced"),
            gettext_lazy("Only the surest"),
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class Step:
    """A choice with what it would show; nothing where no bound brings it about."""

    share: float
    name: str
    shown: Shown | None
    is_chosen: bool

    @property
    def text(self) -> int:
        return round(100 * self.share)

    @property
    def beside(self) -> int:
        return round(100 * beside_share(self.share))


@require_http_methods(FORM)
def shown_share(request: HttpRequest, slug: str) -> HttpResponse:
    """How many suggestions the queue would show by each choice, and which share of them would be approved. POST with
    `share` makes one."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    shares = ShownShares(project)
    if request.method == "POST":
        return _save(request, project, shares)
    steps = [
        Step(share, str(name), shares.for_share(share) if shares.rows else None, share == project.expected_share)
        for share, name in NAMES.items()
    ]
    context: dict[str, Any] = {"now": shares.at(None), "steps": steps, "shares": shares}
    context |= {"least": shares.least / 100, "most": shares.most / 100, "under_way": change_under_way(project)}
    return render_tab(request, membership, TAB, template="settings_shown_share", **context)


def _save(request: HttpRequest, project: Project, shares: ShownShares) -> HttpResponse:
    here = redirect("settings_shown_share", project.slug)
    asked = request.POST.get("share", "")
    share = next((one for one in SHARES if asked == f"{one:g}"), None)
    shown = shares.for_share(share) if share is not None and shares.rows else None
    if shares.tier is None or (asked and shown is None):
        messages.error(request, _("Nothing was saved: no bound brings that about with the suggestions of now."))
        return here
    former, former_share = list(project.tiers.filter(basis=Basis.PROBABILITY)), project.expected_share
    tier, wordless = shares.tier, None
    if shown is not None and shown.bound is not None:
        tier.lower_bound, wordless = shown.bound, shares.wordless_bounds(shown)
    kept = [tier] if shown is not None else []
    chosen: dict[str, Any] = {"basis": Basis.PROBABILITY, "share": share, "wordless": wordless}
    try:
        change = change_tiers(project, kept, user=request.user, **chosen)
    except UserError as error:
        messages.error(request, str(error))
        return here
    back = [
        *former_values(project, Basis.PROBABILITY, former),
        ("share", "" if not former_share else f"{former_share:g}"),
        ("wordless", bounds_as_text(shares.wordless_now)),
    ]
    address = f"{reverse(TAB, args=[project.slug])}?basis={Basis.PROBABILITY.value}"
    offer_undo(request, project, TAB, address, back, change if isinstance(change, Run) else None)
    if not isinstance(change, Run):
        messages.success(request, moves_of(change))
    return here
