"""What has become of a release's links since: how they are out now, and what is about to happen to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db.models import Count, F, Q

from linker.models import EdgeStatus
from linker.models.querysets import REOPENED, UNDECIDED, of
from review.models import Operation, ReleaseLink
from review.releases.checks import REJECTED_AND_OUT

if TYPE_CHECKING:
    from review.models import Release

_AS_IT_LEFT = Q(edge__published__is_out=True, edge__published__anchor=F("anchor"), edge__published__rel=F("rel"))
_STILL_OFF = Q(operation=Operation.REMOVE, edge__published__is_out=False)


MOST = 5_000  # links of a release that are looked at while somebody waits


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
    links = ReleaseLink.objects.filter(release=release)
    if release.links > MOST:
        links = ReleaseLink.objects.filter(pk__in=links.order_by("-pk").values("pk")[:MOST])
    is_going = Q(edge__pending__operation=Operation.REMOVE)
    added = Q(operation=Operation.ADD, edge__status=EdgeStatus.EXPORTED)
    counts = {
        "unchanged": ~Q(operation=Operation.REMOVE) & _AS_IT_LEFT | _STILL_OFF,
        "reopened": of("edge", REOPENED & UNDECIDED),
        "leaving": is_going | of("edge", REJECTED_AND_OUT),
        "to_withdraw": added & ~is_going,
    }
    # All in one look: each of the links is found once.
    found = links.aggregate(**{name: Count("pk", filter=holds) for name, holds in counts.items()})
    return Since(looked=min(release.links, MOST), is_all=release.links <= MOST, **found)
