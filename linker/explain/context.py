"""What all questions about some pages of a project need, read once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import numpy as np
from django.db.models import Q
from django.urls import reverse
from django.utils.translation import gettext as _

from linker.embedding.service import embedding_model
from linker.engine.params import MatchParams
from linker.errors import UserError
from linker.explain.findings import Link
from linker.explain.wording import links_text
from linker.matching.donor_caps import PlaceCaps, SectionNames, place_caps
from linker.matching.eligibility import eligibility_of
from linker.matching.kept_runs import standing_run
from linker.matching.report_types import MatchReport
from linker.matching.room import Room, rooms_of
from linker.models import (
    CandidateEdge,
    Page,
    PageEmbedding,
    PageTwin,
    Pilot,
    Placement,
    Project,
    Run,
    RunKind,
    RunStatus,
)
from linker.models.linked import already_linked
from linker.models.querysets import ACTIVE, APPROVED
from linker.pages.posed_links import as_seen, posed_to
from linker.pages.sensitive_marks import why_sensitive
from linker.storage.site_figures import site_figures
from linker.wording import joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.contrib.auth.models import User
    from django.db.models import QuerySet


class WhyNotContext:
    """The match run that stands, what the rules say of the pages, and the room they have: see the module. `user`: who
    asks, and learns no more of a suggestion than the queue tells; None for who may know all."""

    def __init__(self, project: Project, pages: Sequence[Page], user: User | None = None) -> None:
        self.project, self.user = project, user
        ids = [page.pk for page in pages]
        self.run = standing_run(project)
        self.params = MatchParams.from_dict(self.run.params) if self.run else MatchParams()
        self.rooms: dict[int, Room] = {}
        self.no_vectors = ""
        self.model = None
        try:
            self.model = embedding_model(project, site_figures(project).live_by_set)
        except UserError as error:
            self.no_vectors = str(error)
        self.eligibility = eligibility_of(project, self.model, self.params, ids)
        pilot = Pilot.objects.filter(run=self.run).first() if self.run else None
        self.drawn = frozenset(np.frombuffer(pilot.pages, "<i8").tolist()) if pilot is not None else None
        self.with_text = set(Page.objects.filter(pk__in=ids).exclude(body="").values_list("pk", flat=True))
        self.embedded = dict(
            PageEmbedding.objects.filter(model=self.model, page__in=ids).values_list("page_id", "created_at")
        )
        self.sensitive = why_sensitive(project, ids)
        twins = PageTwin.objects.filter(page__in=ids).select_related("group")
        self.twins = {twin.page_id: twin for twin in twins}

    @cached_property
    def is_newest(self) -> bool:
        """Whether no match run came after the one that stands, which may have been taken again."""
        runs = Run.objects.filter(project=self.project, kind=RunKind.MATCH, status=RunStatus.SUCCEEDED)
        return self.run is None or not runs.filter(pk__gt=self.run.pk).exists()

    @property
    def run_name(self) -> str:
        """What the run is called in the middle of a sentence, after "the"."""
        said = _("newest match run (%(run)d)") if self.is_newest else _("match run that stands (%(run)d)")
        return said % {"run": self.run.pk if self.run else 0}

    def edge(self, donor: Page, acceptor: Page) -> CandidateEdge | None:
        """The suggestion of the pair; to the user, also the link of the site that the queue shows as one."""
        edges = CandidateEdge.objects.filter(project=self.project, source=donor, target=acceptor)
        found = list(edges.select_related("tier", "run"))
        if self.user is not None:
            found = as_seen(self.project, self.user, found) + posed_to(
                self.project, self.user, source=donor, target=acceptor
            )
        return found[0] if found else None

    def link(self, label: str, name: str, *args: Any, manager: bool = False, **query: Any) -> Link:
        href = reverse(name, args=[self.project.slug, *args])
        return Link(label, f"{href}?{urlencode(query)}" if query else href, manager)

    def match_again(self) -> Link:
        return self.link(_("Match"), "match", manager=True)

    def counted(self, edges: QuerySet[CandidateEdge]) -> QuerySet[CandidateEdge]:
        """The project's edges that use up caps on new links: not those that the site has by now."""
        return edges.filter(ACTIVE, project=self.project).exclude(
            APPROVED & Q(pk__in=already_linked(edges).values("pk"))
        )

    def room(self, page: Page) -> Room:
        """New links that the page may give under the run's caps."""
        if page.pk not in self.rooms:
            usual = Room(self.params.inline_per_donor, self.params.related_per_donor)
            self.rooms[page.pk] = rooms_of(self.project, self.params, [page.pk]).get(page.pk, usual)
        return self.rooms[page.pk]

    def less_room(self, page: Page) -> str:
        """What leaves the page less room than others, in a sentence with a space before; empty where nothing does."""
        room, params, said = self.room(page), self.params, []
        places = place_caps(self.project, [(page.pk, self.run.pk)])[page.pk, self.run.pk] if self.run else {}
        if room.inline < params.inline_per_donor and places:
            text = places[Placement.INLINE]
            caps = [self._in_all(text)] if text.in_all is not None else []
            caps += [_("%(links)s for its length") % {"links": text.by_length}] if text.by_length is not None else []
            if caps:
                has = _("its text already has %(links)s; the cap is %(caps)s")
                said.append(has % {"links": links_text(text.on_site), "caps": joined(caps)})
        if room.related < params.related_per_donor and places:
            beside = places[Placement.RELATED]
            has = _("beside its text there are already %(links)s; the cap is %(cap)s")
            said.append(has % {"links": beside.on_site, "cap": self._in_all(beside)})
        less = _("There is less room than on other pages: %(reasons)s.")
        return f" {less % {'reasons': '; '.join(said)}}" if said else ""

    def _in_all(self, caps: PlaceCaps) -> str:
        """A cap with the links that are there, and the section that has it."""
        section = SectionNames(self.project).of(caps.section)
        said = _("%(links)s in total, that of “%(section)s”") if section else _("%(links)s in total")
        return said % {"links": caps.in_all, "section": section}

    def this_run(self) -> Link | None:
        return self.link(_("Run %(pk)s") % {"pk": self.run.pk}, "run", self.run.pk) if self.run else None

    @property
    def target_cap(self) -> int:
        """Most links an acceptor received in the run, 0 for no cap."""
        allocation = MatchReport.from_json(self.run.report).allocation if self.run else None
        return allocation.target_cap if allocation else 0
