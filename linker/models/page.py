"""Pages, their categories, vectors and the links the site already has."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex, GinIndex
from django.db import models
from django.db.models import Case, F, Func, Q, Value, When
from django.db.models.functions import MD5, Coalesce, Lower, NullIf, Replace, Trim
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from linker.engine.roles.policy import CHOICES, LABELS, PageRole
from linker.engine.text.languages import SURE
from linker.models.project import Project
from linker.models.querysets import LIVE_STATUS, MISSING, PRESENT
from linker.models.search_words import SearchWords

ENDLESS_CALENDAR = "Endless calendar"  # the indexability status of its months, as a crawl finds them


class Category(models.Model):
    """A node of the editors' tree. Pages without a category hang on the root, which has no row.

    `path` holds the names from the top to this node; `depth` is its length; `path_key` is the sha256 of the names
    joined by U+001F, because names may hold any separator and a unique index cannot hold any length.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="categories")
    parent = models.ForeignKey("self", on_delete=models.CASCADE, null=True, blank=True, related_name="children")
    name = models.CharField(max_length=200)
    path = ArrayField(models.CharField(max_length=200))
    path_key = models.CharField(max_length=64)
    depth = models.PositiveSmallIntegerField()

    class Meta:
        verbose_name_plural = "categories"
        constraints = [
            models.UniqueConstraint(fields=["project", "path_key"], name="category_path_once"),
            models.CheckConstraint(condition=models.Q(depth__gte=1), name="category_depth_positive"),
        ]

    def __str__(self) -> str:
        return " › ".join(self.path)


def _before_hyphen(text: Replace) -> Func:
    """The language of a tag, without region or script, as linker.engine.text.generic.primary_language has it."""
    return Func(text, Value("-"), Value(1), function="split_part", output_field=models.CharField())


class PageStatus(models.TextChoices):
    LIVE = "live", _("Live")
    MERGED = "merged", _("Merged")
    REDIRECTED = "redirected", _("Redirected")
    REMOVED = "removed", _("Removed")


LED_ELSEWHERE = (PageStatus.MERGED, PageStatus.REDIRECTED)


class Page(models.Model):
    """A page of the site. Its id outlives its address.

    `url` is the address as the crawl wrote it and as it is exported; `canonical_url` is the key under which the
    same page is found again (ingest.addresses.normalise). Numbers are null where no file gave them.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="pages", db_index=False)
    url = models.TextField()
    canonical_url = models.TextField()
    # What became of it, since when, and which page took its place: linker.pages.identity writes them.
    status = models.CharField(max_length=10, choices=PageStatus.choices, default=PageStatus.LIVE)
    state_since = models.DateTimeField(null=True, blank=True, help_text="Empty where it is as it was first seen")
    successor = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="The page that it was merged into or redirects to in the end",
    )

    title = models.TextField(blank=True, default="")
    h1 = models.TextField(blank=True, default="")
    headings = ArrayField(models.TextField(), default=list, blank=True)
    # Where links stand in the body that lead to no other page of the site: start and end of each, in characters of the
    # body of this hash. No second link may stand there.
    linked_elsewhere = ArrayField(
        models.IntegerField(), default=list, blank=True, db_default=models.Value([], ArrayField(models.IntegerField()))
    )
    linked_elsewhere_hash = models.BigIntegerField(null=True, blank=True)
    description = models.TextField(blank=True, default="")
    body = models.TextField(blank=True, default="")
    body_hash = models.GeneratedField(
        expression=models.Func(models.F("body"), models.Value(0), function="hashtextextended"),
        output_field=models.BigIntegerField(),
        db_persist=True,
        help_text="Shows, without reading the text, whether it has changed since something was read from it",
    )
    # As the crawl says, which may be wrong, and as the text reads (linker.pages.languages).
    language = models.CharField(max_length=35, blank=True, default="")
    detected_language = models.CharField(max_length=8, blank=True, default="", db_default="")
    language_sureness = models.FloatField(default=0.0, db_default=0.0)
    language_read = models.BigIntegerField(
        null=True, blank=True, help_text="Shows whether the text has changed since the language was detected"
    )
    own_language = models.GeneratedField(
        expression=Case(
            When(language_sureness__gte=SURE, then=F("detected_language")),
            default=_before_hyphen(Replace(Lower(Trim("language")), Value("_"), Value("-"))),
        ),
        output_field=models.CharField(max_length=35),
        db_persist=True,
        help_text="The language the page counts as; empty where it counts as the project’s usual one",
    )
    word_count = models.IntegerField(null=True, blank=True)
    category = models.ForeignKey(
        Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="pages", db_index=False
    )

    status_code = models.PositiveSmallIntegerField(null=True, blank=True)
    indexable = models.BooleanField(default=True)
    indexability_status = models.CharField(max_length=100, blank=True, default="")
    canonical_link = models.TextField(blank=True, default="", help_text="rel=canonical as the page states it")
    redirect_url = models.TextField(blank=True, default="")
    leads_to = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,
        help_text="Where a link to it ends, past redirects and canonicals; kept by the links import",
    )
    crawl_depth = models.IntegerField(null=True, blank=True)
    last_modified = models.DateTimeField(null=True, blank=True)

    # What a file says the page is worth to its owner (of any scale from 0), and how much authority its links give it.
    value = models.FloatField(null=True, blank=True)
    authority = models.FloatField(null=True, blank=True)

    # Read from one period of PageTraffic, see linker.pages.traffic.periods_read: never written otherwise.
    clicks = models.IntegerField(null=True, blank=True)
    impressions = models.IntegerField(null=True, blank=True)
    position = models.FloatField(null=True, blank=True)

    # What the page is for (linker.engine.roles): as found, with what speaks for it; by a rule; by a manager, who has
    # the last word.
    role = models.CharField(max_length=8, choices=CHOICES, default="article", db_default="article")
    role_why = models.CharField(max_length=300, blank=True, default="", db_default="")
    role_by_rule = models.CharField(max_length=8, choices=CHOICES, blank=True, default="", db_default="")
    role_by_hand = models.CharField(max_length=8, choices=CHOICES, blank=True, default="", db_default="")
    role_in_force = models.GeneratedField(
        expression=Coalesce(NullIf("role_by_hand", models.Value("")), NullIf("role_by_rule", models.Value("")), "role"),
        output_field=models.CharField(max_length=8, choices=CHOICES),
        db_persist=True,
    )
    event_day = models.DateField(null=True, blank=True, help_text="The last day of the event that the page is about")

    # Distinct other pages linking here from their body text, and linked from ours: ORPHAN in linker.models.querysets
    # says what counts. Kept by the links import; in no index, so that a page whose numbers change stays in its place
    # (migration 0043 leaves room there).
    inlinks = models.IntegerField(default=0)
    outlinks = models.IntegerField(default=0)
    in_sidebar = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Linked beside the text of so many pages that the link is the template’s; kept by the links import",
    )

    first_seen_at = models.DateTimeField(auto_now_add=True)
    last_seen_at = models.DateTimeField(auto_now_add=True)
    missing_since = models.DateTimeField(null=True, blank=True, help_text="Set when an import no longer holds the page")

    class Meta:
        constraints = [
            # Two constraints in one: the md5 keeps addresses of any length indexable.
            models.UniqueConstraint("project", MD5("canonical_url"), name="page_canonical_url_once"),
            models.CheckConstraint(condition=Q(status__in=PageStatus.values), name="page_status_known"),
            models.CheckConstraint(
                condition=Q(successor=None) | Q(status__in=LED_ELSEWHERE) & ~Q(successor=F("id")),
                name="page_with_a_successor_leads_there",
            ),
        ]
        indexes = [
            # Counted and listed by role, without the rows.
            models.Index(
                fields=["project", "role_in_force", "id"],
                condition=PRESENT,
                name="page_by_role",
            ),
            # Led by the category, it also finds the pages of one that goes.
            models.Index(fields=["category", "project"], name="page_by_category"),
            # Counted and listed by language, without the rows.
            models.Index(
                fields=["project", "own_language", "id"],
                condition=PRESENT,
                name="page_by_language",
            ),
            # Whether other pages are called so: review.anchor_warnings. In eight bytes, whatever the name.
            models.Index(
                models.F("project"),
                models.Func(
                    Lower(Coalesce(NullIf("h1", models.Value("")), "title")),
                    models.Value(0),
                    function="hashtextextended",
                ),
                name="page_by_name",
            ),
            models.Index(fields=["project"], condition=MISSING, name="page_missing"),
            # A few of all: the targets of a site-wide sidebar, see linker.models.linked.own_beside_sql.
            models.Index(fields=["project"], condition=Q(in_sidebar=True), name="page_in_sidebar"),
            # Few of many: which pages lead elsewhere, and to a page that goes.
            models.Index(fields=["leads_to"], condition=Q(leads_to__isnull=False), name="page_leads_elsewhere"),
            # The same of what became of pages.
            models.Index(fields=["project", "status"], condition=~LIVE_STATUS, name="page_not_live"),
            models.Index(fields=["successor"], condition=Q(successor__isnull=False), name="page_with_a_successor"),
            # Those that an import has brought since a day: linker.pages.listing.
            models.Index(fields=["project", "first_seen_at"], name="page_by_first_seen"),
            # The search of the queue: review.queue.search.
            GinIndex(SearchWords("url", "title"), name="page_words"),
        ]

    def __str__(self) -> str:
        return self.url

    @property
    def role_label(self) -> str:
        return LABELS[PageRole(self.role_in_force)]

    @property
    def role_from(self) -> str:
        """Where the role in force comes from: "hand", "rule" or "found"."""
        if self.role_by_hand:
            return "hand"
        return "rule" if self.role_by_rule else "found"

    @property
    def role_now(self) -> PageRole:
        """The role that settings are read by: an event to come is an article like any other."""
        role = PageRole(self.role_in_force)
        is_to_come = self.event_day is not None and self.event_day >= timezone.localdate()
        return PageRole.ARTICLE if role is PageRole.EVENT and is_to_come else role


class TrafficSource(models.TextChoices):
    SEARCH_CONSOLE = "search_console", _("Search Console")
    CRAWL = "crawl", _("Search Console, with the crawl")
    ANALYTICS = "analytics", _("Analytics")
    HITS = "hits", _("A list of hits")


class TrafficPeriod(models.Model):
    """The days that an import's clicks, impressions or hits were counted on; both null if unknown.

    A later import of the same source and days replaces what this one brought.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="traffic_periods", db_index=False)
    source = models.CharField(max_length=16, choices=TrafficSource.choices)
    starts = models.DateField(null=True, blank=True)
    ends = models.DateField(null=True, blank=True, help_text="The last day, inclusive")
    imported_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "source", "starts", "ends"], name="traffic_period_once", nulls_distinct=False
            ),
            models.CheckConstraint(condition=Q(source__in=TrafficSource.values), name="traffic_source_known"),
            models.CheckConstraint(
                condition=Q(starts=None, ends=None)
                | Q(starts__isnull=False, ends__isnull=False, ends__gte=models.F("starts")),
                name="traffic_period_begins_before_it_ends",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.starts:%Y-%m-%d} to {self.ends:%Y-%m-%d}" if self.starts and self.ends else "unknown period"


class PageTraffic(models.Model):
    """What a page got in a period, all its addresses together. Null where the file does not say; CTR is derived.

    `position` is the average in search results, weighted by impressions; `hits` are visits, views or requests.
    """

    period = models.ForeignKey(TrafficPeriod, on_delete=models.CASCADE, related_name="pages", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="traffic", db_index=False)
    clicks = models.BigIntegerField(null=True, blank=True)
    impressions = models.BigIntegerField(null=True, blank=True)
    position = models.FloatField(null=True, blank=True)
    hits = models.BigIntegerField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "page traffic"
        constraints = [
            # Led by the period, since a period is read and replaced as a whole; a project has few of them.
            models.UniqueConstraint(fields=["period", "page"], name="page_traffic_once"),
            models.CheckConstraint(
                condition=(
                    (Q(clicks=None) | Q(clicks__gte=0))
                    & (Q(impressions=None) | Q(impressions__gte=0))
                    & (Q(hits=None) | Q(hits__gte=0))
                    & (Q(position=None) | Q(position__gt=0))
                ),
                name="page_traffic_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(clicks__isnull=False)
                | Q(impressions__isnull=False)
                | Q(position__isnull=False)
                | Q(hits__isnull=False),
                name="page_traffic_says_something",
            ),
        ]

    @property
    def ctr(self) -> float | None:
        """Clicks an impression, from 0 to 1."""
        return self.clicks / self.impressions if self.clicks is not None and self.impressions else None


class QuerySource(models.TextChoices):
    SEARCH_CONSOLE = "search_console", _("Search Console")
    JOIL = "joil", _("url, query, importance")


class SearchQuery(models.Model):
    """Words that people searched for and found a page by, or that the site's owner wants it to be found by.

    `query` is as the file wrote it, spaces collapsed. Search Console gives clicks, impressions and the average
    position; a file of target keywords gives `importance`, on any scale from 0. Numbers are null where no file gave
    them. A query that the newest file lacks stays, with its old `last_seen_at`.
    """

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="queries", db_index=False)
    query = models.TextField()
    clicks = models.IntegerField(null=True, blank=True)
    impressions = models.IntegerField(null=True, blank=True)
    position = models.FloatField(null=True, blank=True)
    importance = models.FloatField(null=True, blank=True)
    source = models.CharField(max_length=16, choices=QuerySource.choices)
    last_seen_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "search queries"
        constraints = [
            # Led by the page, its index is also the one that linker.matching.search_queries.target_queries reads by.
            models.UniqueConstraint("page", "source", MD5("query"), name="search_query_once"),
            models.CheckConstraint(condition=models.Q(source__in=QuerySource.values), name="search_query_source_known"),
            models.CheckConstraint(condition=~models.Q(query=""), name="search_query_not_empty"),
            models.CheckConstraint(
                condition=models.Q(importance=None) | models.Q(importance__gte=0), name="search_query_importance_from_0"
            ),
        ]

    def __str__(self) -> str:
        return self.query


class EmbeddingModel(models.Model):
    """A set of vectors that may be compared: one encoder at a version that read one text of each page, or a column that
    a crawl brought along.

    `version` changes whenever the vectors would: weights, normalisation, sequence length. `recipe` says which text was
    read (linker.embedding.text.Recipe.key, "crawler" for imported ones, empty if unknown), `made_of` the same
    in words. Imported vectors belong to one project, encoders to none. The row outlives its vectors: runs name it.
    """

    name = models.CharField(max_length=200)
    version = models.CharField(max_length=100)
    recipe = models.CharField(max_length=40, blank=True, default="", db_default="")
    made_of = models.TextField(blank=True, default="", db_default="")
    dimensions = models.PositiveIntegerField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version", "recipe", "project"], name="embedding_model_once", nulls_distinct=False
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}{f' (text {self.recipe})' if self.recipe else ''}"


class PageEmbedding(models.Model):
    """A unit vector of a page under a model; `text_sha256` says of which text."""

    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="embeddings")
    model = models.ForeignKey(EmbeddingModel, on_delete=models.CASCADE, related_name="+")
    text_sha256 = models.BinaryField(max_length=32)
    vector = HalfVectorField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "page"], name="embedding_page_and_model_once"),
        ]


class Block(models.IntegerChoices):
    """The part of a page in which the crawl saw a link. Content is the page's own text, aside what stands beside it;
    list is all of a page that is nothing but a list of others."""

    UNKNOWN = 0, _("Unknown")
    CONTENT = 1, _("Content")
    ASIDE = 2, _("Aside")
    HEADER = 3, _("Header")
    FOOTER = 4, _("Footer")
    NAVIGATION = 5, _("Navigation")
    LIST = 6, _("List of pages")


class CountsBy(models.IntegerChoices):
    """What says that a link counts as it does, where it is not the crawl."""

    RULE = 1, _("A rule")
    ROLE = 2, _("The role of its page")


class ExistingLink(models.Model):
    """A link the site already has, with the block it is in.

    Links in the text and beside it are kept with their anchors; of those in a template's other blocks one is kept for
    two pages and the block, without its anchor. `target` is the page that the link leads to in the end, where the crawl
    says so: past redirects, and past addresses whose canonical is another. `place` counts the characters of the
    source's body before the anchor, where a crawl said so and the anchor stood there then; whoever uses it looks
    whether it still does.

    `block` is what the link counts as. Where that is otherwise than the crawl read, `read_block` is what it read: it
    belongs to what the link is, so that a rule never makes two links one, and can be taken back. `counts_by` says what
    decided: a LinkRule, which may also leave the link as it is, or the role of the page that it stands on
    (linker.pages.list_links).

    `last_seen_at` is when an import brought the link, or found that it is back or followed otherwise. Until
    `missing_since`, every later import of its page's links has seen it as well: these write nothing on a link that is
    the same.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="links_out", db_index=False)
    target = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="links_in")
    block = models.SmallIntegerField(choices=Block.choices)
    read_block = models.SmallIntegerField(null=True, blank=True, choices=Block.choices)
    counts_by = models.SmallIntegerField(null=True, blank=True, choices=CountsBy.choices)
    anchor = models.TextField(blank=True, default="")
    follow = models.BooleanField(default=True)
    place = models.IntegerField(null=True, blank=True)
    last_seen_at = models.DateTimeField(auto_now_add=True)
    missing_since = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            # The hash keeps anchors of any length indexable, in eight bytes.
            models.UniqueConstraint(
                "source",
                "target",
                Coalesce("read_block", "block"),
                models.Func(models.F("anchor"), models.Value(0), function="hashtextextended"),
                name="existing_link_once",
            ),
            models.CheckConstraint(condition=models.Q(block__in=Block.values), name="existing_link_block_known"),
            models.CheckConstraint(
                condition=models.Q(read_block=None)
                | models.Q(read_block__in=Block.values) & ~models.Q(read_block=models.F("block")),
                name="existing_link_read_otherwise",
            ),
            models.CheckConstraint(
                condition=models.Q(counts_by=None, read_block=None)
                | models.Q(counts_by__isnull=False, counts_by=CountsBy.RULE)
                | models.Q(
                    counts_by__isnull=False,
                    counts_by=CountsBy.ROLE,
                    block=Block.LIST,
                    read_block__isnull=False,
                    read_block=Block.CONTENT,
                ),
                name="existing_link_counts_by_known",
            ),
        ]
        indexes = [
            # An import's links lie together, so that the blocks of a project's take no index of each row.
            BrinIndex(fields=["project"], name="existing_link_by_project"),
        ]
