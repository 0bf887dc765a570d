"""What became of a page: its events, the addresses it had, and where its suggestions and numbers went.

All of it is append-only but the addresses, which follow the page: a trigger refuses to change or delete the rest (a
purge of a whole project sets `anchorline.purge` first).
"""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5
from django.utils.translation import gettext_lazy as _

from linker.models.edge import CandidateEdge, EdgeStatus
from linker.models.page import Page, QuerySource, TrafficPeriod
from linker.models.project import Project
from linker.models.querysets import GIVES, LIVE_STATUS, RECEIVES, sql
from linker.models.run import Run
from linker.models.search_words import SearchWords


class PageEventKind(models.TextChoices):
    CREATED = "created", _("Created")
    CHANGED = "changed", _("Changed")
    MERGED = "merged", _("Merged")
    REDIRECTED = "redirected", _("Redirected")
    REMOVED = "removed", _("Removed")
    MOVED = "moved", _("Moved to another address")
    RESTORED = "restored", _("Live again")


class EventOrigin(models.TextChoices):
    """Who said so."""

    CRAWL = "crawl", _("Crawl")
    FILE = "file", _("File of events")
    COMMAND = "command", _("Command")


class PageEvent(models.Model):
    """Something that happened to a page, at a time that whoever told of it gives, or that of the import.

    `other` is the page that it was merged into or redirects to, if the project has that; `old_url` and `new_url` are
    the addresses before and after, `new_url` empty where the event has none.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="events", db_index=False)
    kind = models.CharField(max_length=10, choices=PageEventKind.choices)
    other = models.ForeignKey(Page, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    old_url = models.TextField()
    new_url = models.TextField(blank=True, default="")
    at = models.DateTimeField()
    told_at = models.DateTimeField(auto_now_add=True)
    origin = models.CharField(max_length=8, choices=EventOrigin.choices)
    run = models.ForeignKey(Run, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=PageEventKind.values), name="page_event_kind_known"),
            models.CheckConstraint(condition=Q(origin__in=EventOrigin.values), name="page_event_origin_known"),
            models.CheckConstraint(condition=~Q(other=F("page")), name="page_event_not_of_itself"),
            models.CheckConstraint(
                condition=~Q(kind=PageEventKind.MERGED) | Q(other__isnull=False), name="page_event_merged_into_one"
            ),
            models.CheckConstraint(
                condition=~Q(kind=PageEventKind.MOVED) | ~Q(new_url=""), name="page_event_moved_somewhere"
            ),
            # Told twice, it happened once. Led by the page, its index also finds a page's own events.
            models.UniqueConstraint("page", "at", "kind", MD5("new_url"), name="page_event_once"),
        ]
        indexes = [
            models.Index(fields=["project", "-id"], name="page_event_newest"),
            # Whether somebody told it before: of the address, whichever page has that by now.
            models.Index(F("project"), MD5("old_url"), name="page_event_of_address"),
        ]

    def __str__(self) -> str:
        return f"{self.old_url}: {self.kind}"


class PageAddress(models.Model):
    """An address that a page had before it moved. Files that still name it mean the page.

    `canonical_url` is its key, as a page's. An address that another page has taken over is that page's alone.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="former_addresses")
    url = models.TextField()
    canonical_url = models.TextField()
    until = models.DateTimeField(help_text="When the page moved away from it")

    class Meta:
        verbose_name_plural = "page addresses"
        constraints = [
            models.UniqueConstraint("project", MD5("canonical_url"), name="page_address_once"),
        ]
        # The search of the queue: review.queue.search.
        indexes = [GinIndex(SearchWords("url"), name="page_address_words")]

    def __str__(self) -> str:
        return self.url


class MoveReason(models.TextChoices):
    """Why an edge is no longer what it was; review.live.life says it in words."""

    MOVED = "moved", _("Its page leads to another, and so does the link now")
    SWAPPED = "swapped", _("A link of a page that leads here was decided on, and stands in its place")
    EXISTS = "exists", _("Its page leads to another, which has this link already")
    ITSELF = "itself", _("Both of its pages are one now")
    LINKED = "linked", _("Its page leads to another, which the site links there already")
    GONE = "gone", _("Its page was removed")
    BACK = "back", _("Its pages are live again")
    ADDRESS = "address", _("Its page has another address")


class EdgeMove(models.Model):
    """What an event of one of its pages did to an edge: the pair and the status before and after.

    `run` is the edge's, as it was: a match that proposes it again brings another. `event` is the newest of those that
    led to it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    edge = models.ForeignKey(CandidateEdge, on_delete=models.CASCADE, related_name="moves", db_index=False)
    event = models.ForeignKey(PageEvent, on_delete=models.CASCADE, null=True, related_name="+", db_index=False)
    at = models.DateTimeField(auto_now_add=True)
    reason = models.CharField(max_length=8, choices=MoveReason.choices)
    source_before = models.BigIntegerField()
    target_before = models.BigIntegerField()
    source_after = models.BigIntegerField()
    target_after = models.BigIntegerField()
    status_before = models.CharField(max_length=10, choices=EdgeStatus.choices)
    status_after = models.CharField(max_length=10, choices=EdgeStatus.choices)
    closed = models.BooleanField(help_text="Whether it was open or accepted, and is so no longer")
    run = models.BigIntegerField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(reason__in=MoveReason.values), name="edge_move_reason_known"),
        ]
        indexes = [
            models.Index(fields=["edge", "-id"], name="edge_move_of_edge"),
            # What may come back once its pages are live again.
            models.Index(fields=["project", "edge"], condition=Q(closed=True), name="edge_move_closed"),
            models.Index(fields=["project", "edge"], condition=Q(reason="moved"), name="edge_move_moved"),
        ]

    def __str__(self) -> str:
        return f"{self.edge_id}: {self.reason}"


def follows_sql(edge: str) -> str:
    """SQL, for a statement with the parameter `project`: whether an edge may stand in the queue, whatever else says so.
    One of a page that is merged, redirected or removed may not, nor one that gave its pair up to another, until a match
    proposes it: such pages are few and are read once. Nor may one of a donor that is missing or does not answer, or of
    an acceptor that is not indexable besides: of those there may be many."""
    gone = (
        f"SELECT gone.id FROM linker_page gone WHERE gone.project_id = %(project)s AND NOT ({sql(LIVE_STATUS, 'gone')})"
    )
    return (
        f"({edge}.source_id NOT IN ({gone}) AND {edge}.target_id NOT IN ({gone}) "
        f"AND EXISTS (SELECT FROM linker_page gives WHERE gives.id = {edge}.source_id AND {sql(GIVES, 'gives')}) "
        f"AND EXISTS (SELECT FROM linker_page takes WHERE takes.id = {edge}.target_id AND {sql(RECEIVES, 'takes')}) "
        f"AND {edge}.id NOT IN ("
        "SELECT gave.edge_id FROM linker_edgemove gave JOIN linker_candidateedge given ON given.id = gave.edge_id "
        "WHERE gave.project_id = %(project)s AND gave.closed AND gave.reason = 'swapped' AND gave.run = given.run_id))"
    )


class PageTurn(models.Model):
    """A page that has come to give or receive links, or no longer may, until its suggestions have followed: see
    linker.matching.away.

    A trigger writes it, in the transaction that changes the page, and never waits for another: the page may be there
    twice.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")

    class Meta:
        indexes = [models.Index(fields=["project", "id"], name="page_turn_of_project")]

    def __str__(self) -> str:
        return str(self.page_id)


class MovedTraffic(models.Model):
    """What a page that leads to another had brought: its row of PageTraffic, which was added to the other's."""

    event = models.ForeignKey(PageEvent, on_delete=models.CASCADE, related_name="traffic", db_index=False)
    period = models.ForeignKey(TrafficPeriod, on_delete=models.CASCADE, related_name="+")
    clicks = models.BigIntegerField(null=True, blank=True)
    impressions = models.BigIntegerField(null=True, blank=True)
    position = models.FloatField(null=True, blank=True)
    hits = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "moved traffic"
        constraints = [models.UniqueConstraint(fields=["event", "period"], name="moved_traffic_once")]


class MovedQuery(models.Model):
    """The same of its search queries."""

    event = models.ForeignKey(PageEvent, on_delete=models.CASCADE, related_name="queries", db_index=False)
    query = models.TextField()
    source = models.CharField(max_length=16, choices=QuerySource.choices)
    clicks = models.IntegerField(null=True, blank=True)
    impressions = models.IntegerField(null=True, blank=True)
    position = models.FloatField(null=True, blank=True)
    importance = models.FloatField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "moved queries"
        constraints = [models.UniqueConstraint("event", "source", MD5("query"), name="moved_query_once")]
