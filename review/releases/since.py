"""What has become of a release's links since: how they are out now, and what is about to happen to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import F, Q

from linker.models import EdgeStatus
from linker.models.querysets import REOPENED, UNDECIDED
from review.models import Operation, Pending, ReleaseLink
from review.releases.checks import REJECTED_AND_OUT

if TYPE_CHECKING:
    from review.models import Release

_AS_IT_LEFT = Q(edge__published__is_out=True, edge__published__anchor=F("anchor"), edge__published__rel=F("rel"))
_STILL_OFF = Q(operation=Operation.REMOVE, edge__published__is_out=False)


MOST = 10_000  # links of a release that are looked at while somebody waits


@dataclass(frozen=True)
class Since:
    """Links of a release, whatever it did with them: `unchanged` are as it left them, as far as releases go; of those
    that are out, `reopened` wait in the review queue and `leaving` are taken off by the next release. `to_withdraw`:
    those it added that can be withdrawn. `looked` links were looked at: the newest rows, where there are more."""

    looked: int
    is_all: bool
    unchanged: int
    reopened: int
    leaving: int
    to_withdraw: int

    @property
    def can_withdraw(self) -> bool:
        """Whether there is anything to withdraw, as far as was looked."""
        return self.to_withdraw > 0 or not self.is_all


def since(release: Release) -> Since:
    project = release.project
    links = ReleaseLink.objects.filter(release=release)
    if release.links > MOST:
        links = ReleaseLink.objects.filter(pk__in=links.order_by("-pk").values("pk")[:MOST])
    edges = project.edges.filter(REOPENED, pk__in=links.values("edge"))
    removals = Pending.objects.filter(project=project, operation=Operation.REMOVE, edge__in=links.values("edge"))
    added = project.edges.filter(pk__in=links.filter(operation=Operation.ADD).values("edge"))
    return Since(
        looked=min(release.links, MOST),
        is_all=release.links <= MOST,
        unchanged=links.filter(~Q(operation=Operation.REMOVE) & _AS_IT_LEFT | _STILL_OFF).count(),
        reopened=edges.filter(UNDECIDED).count(),
        leaving=removals.count() + edges.filter(REJECTED_AND_OUT).count(),
        to_withdraw=added.filter(status=EdgeStatus.EXPORTED).exclude(pending__operation=Operation.REMOVE).count(),
    )
