"""A site and the people who work on it."""

from __future__ import annotations

from datetime import date, datetime, time
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker import lines


class TextRecipe(models.TextChoices):
    FULL = "full", _("Title, H1, headings and the first part of the body")
    TITLE = "title", _("Title and H1 only")
    BODY = "body", _("Body only")


class VectorSource(models.TextChoices):
    ENCODER = "encoder", _("Embed the pages here")
    IMPORTED = "imported", _("Use the vectors the crawl brought along")


class UrlPolicy(models.TextChoices):
    KEEP = "keep", _("Different pages")
    STRIP = "strip", _("The same page")


class ParameterUrls(models.TextChoices):
    AUTO = "auto", _("Leave out variants of another page, sorting, filters and pagination")
    EXCLUDE = "exclude", _("Leave out every URL with a query")
    ALLOW = "allow", _("Leave out pagination only")


def usual_time_zone() -> str:
    """That of the installation."""
    return settings.TIME_ZONE


class Basis(models.TextChoices):
    """What tiers read off an edge. Each basis has bounds of its own: they mean different things."""

    PROBABILITY = "probability", _("Probability")
    QUANTILE = "quantile", _("Quantile of the run")
    COSINE = "cosine", _("Similarity")


class QueueOrder(models.TextChoices):
    """How suggestions are listed. All but the last keep those of a donor, an acceptor or a category together."""

    DONOR = "donor", _("Donor by donor, highest score first")
    NEED = "need", _("Donor by donor, score and need together")
    TARGET = "target", _("Acceptor by acceptor, most needed first")
    CATEGORY = "category", _("Category by category")
    SCORE = "score", _("Highest score first, in one list")

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns a list is sorted by; the last one is unique, so the order is total."""
        if self == QueueOrder.SCORE:
            return ("-score", "id")
        if self == QueueOrder.NEED:
            return ("-donor_worth", "source_id", "-worth", "id")
        if self == QueueOrder.TARGET:
            return ("-need", "target_id", "-score", "id")
        if self == QueueOrder.CATEGORY:
            return ("section", "-donor_best", "source_id", "-score", "id")
        return ("-donor_best", "source_id", "-score", "id")


class GapLinks(models.TextChoices):
    """Where an accepted link goes whose words the donor's text does not hold; an editor may choose anew each time."""

    LINE = "line", _("A line of its own, after the paragraph that fits best")
    BESIDE = "beside", _("In the list at the end")
    GAP = "gap", _("Content gap: a sentence is written for it")


class AnchorRepeats(models.TextChoices):
    """What is done where a page has as many links with the same anchor as the project wants."""

    SAY = "say", _("Say so on the card; the accept key accepts it")
    ASK = "ask", _("Ask before a link is accepted, but for the page’s own name")
    ASK_NAMES = "names", _("Ask before a link is accepted, for the page’s own name as well")


def default_model() -> str:
    return settings.DEFAULT_MODEL


class Project(models.Model):
    """One site. Everything else belongs to a project."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    base_url = models.URLField(max_length=500, help_text="Start of every address of the site, https://www.example.com")
    created_at = models.DateTimeField(auto_now_add=True)
    members: models.ManyToManyField = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="projects"
    )

    # How addresses become keys (ingest.addresses.normalise).
    trailing_slash = models.CharField(max_length=8, choices=UrlPolicy.choices, default=UrlPolicy.KEEP)
    www = models.CharField(max_length=8, choices=UrlPolicy.choices, default=UrlPolicy.KEEP)
    parameter_urls = models.CharField(max_length=8, choices=ParameterUrls.choices, default=ParameterUrls.AUTO)

    # How pages become vectors (linker.embedding).
    vector_source = models.CharField(max_length=10, choices=VectorSource.choices, default=VectorSource.ENCODER)
    model_name = models.CharField(max_length=200, default=default_model)
    text_recipe = models.CharField(max_length=8, choices=TextRecipe.choices, default=TextRecipe.FULL)

    # How targets become anchors (linker.engine.anchors).
    title_patterns = ArrayField(
        models.CharField(max_length=300),
        default=list,
        blank=True,
        help_text="Regular expressions removed from titles, beside the template found automatically",
    )
    banned_anchors = ArrayField(models.CharField(max_length=100), default=list, blank=True)
    anchor_max_length = models.PositiveSmallIntegerField(
        default=100, validators=[MinValueValidator(10), MaxValueValidator(200)]
    )
    identical_anchor_limit = models.PositiveSmallIntegerField(default=3, validators=[MinValueValidator(1)])
    anchor_repeats = models.CharField(
        max_length=8, choices=AnchorRepeats.choices, default=AnchorRepeats.SAY, db_default=AnchorRepeats.SAY
    )
    query_blend = models.FloatField(
        default=0.3,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="Weight of search queries among the anchors: 0 titles only, 1 queries first",
    )

    # How suggestions are ranked and read (linker.engine.ranking, linker.matching.tiers).
    link_languages = models.BooleanField(
        default=False, db_default=False, help_text="Whether pages in different languages may be linked"
    )
    tier_basis = models.CharField(max_length=12, choices=Basis.choices, default=Basis.PROBABILITY)
    # What share of the links shown in the text is to be expected to be approved (projects.shown_share); null where the
    # bounds of the tiers are set by hand.
    expected_share = models.FloatField(
        null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)], editable=False
    )
    formula_weights = models.JSONField(
        default=dict,
        blank=True,
        help_text="What differs from linker.engine.ranking.formula_score.FormulaWeights, by name",
    )

    role_links = models.JSONField(
        default=dict, blank=True, help_text="What differs from linker.engine.roles.policy.usual_links, by role"
    )
    # Whether many of its pages sell something (linker.pages.roles): the lists of a shop receive links by their names.
    is_shop = models.BooleanField(default=False, db_default=False, editable=False)

    # Where the clock hangs by which schedules run (ingest.schedules) and days begin.
    time_zone = models.CharField(
        max_length=64, default=usual_time_zone, db_default="UTC", help_text="A name of the IANA, such as Europe/Berlin"
    )

    # How the queue is sorted if no order is chosen (review.queue.filters).
    queue_order = models.CharField(
        max_length=8, choices=QueueOrder.choices, default=QueueOrder.DONOR, db_default=QueueOrder.DONOR
    )

    # What the accept button of a content gap proposes (review.link_places).
    gap_links = models.CharField(
        max_length=8, choices=GapLinks.choices, default=GapLinks.BESIDE, db_default=GapLinks.BESIDE
    )

    # What a line of its own says; empty: the usual words of the donor's language (linker.lines).
    line_wording = models.CharField(
        max_length=200, blank=True, default="", db_default="", validators=[lines.validate_wording]
    )

    # When a better candidate is proposed in place of a released link (linker.matching.replacing).
    replacing = models.BooleanField(default=True, db_default=True)
    replace_gain = models.PositiveSmallIntegerField(
        default=20, db_default=20, validators=[MinValueValidator(5), MaxValueValidator(500)], help_text="Percent"
    )
    replace_of_page = models.PositiveSmallIntegerField(
        default=5, db_default=5, validators=[MinValueValidator(1), MaxValueValidator(100)], help_text="Percent a week"
    )
    replace_of_site = models.PositiveSmallIntegerField(
        default=2, db_default=2, validators=[MinValueValidator(1), MaxValueValidator(100)], help_text="Percent a week"
    )
    replace_after = models.PositiveSmallIntegerField(
        default=28, db_default=28, validators=[MaxValueValidator(3650)], help_text="Days a link has to stand first"
    )

    # How much of the queue two people read, the second without seeing the first decision (review.overlap).
    read_twice = models.PositiveSmallIntegerField(
        default=0, db_default=0, validators=[MaxValueValidator(20)], help_text="Percent of the suggestions"
    )
    # How many cards come among them whose answer is known from links that the site has (review.queue.known_cards).
    known_share = models.PositiveSmallIntegerField(
        default=0, db_default=0, validators=[MaxValueValidator(20)], help_text="For each hundred suggestions"
    )

    # From where on something is an alert, where that differs from review.quality.limits.Limits, by name; and how many
    # alerts are open, kept by review.quality.alerts for the navigation.
    alert_limits = models.JSONField(default=dict, db_default={}, blank=True)
    open_alerts = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    # Column mappings the user confirmed, by kind of file: {"pages": {field: column}, "links": {...}, ...}.
    import_mappings = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["name", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(query_blend__gte=0.0, query_blend__lte=1.0), name="project_query_blend_is_share"
            ),
            models.CheckConstraint(
                condition=models.Q(replace_gain__range=(5, 500), replace_after__lte=3650)
                & models.Q(replace_of_page__range=(1, 100), replace_of_site__range=(1, 100)),
                name="project_replacing_within_bounds",
            ),
            models.CheckConstraint(condition=models.Q(read_twice__lte=20), name="project_read_twice_at_most_20"),
            models.CheckConstraint(condition=models.Q(known_share__lte=20), name="project_known_share_at_most_20"),
        ]

    def __str__(self) -> str:
        return self.name

    def begin_of(self, day: date) -> datetime:
        """The moment at which the day begins on the project's clock."""
        return datetime.combine(day, time.min, ZoneInfo(self.time_zone))


class Role(models.TextChoices):
    VIEWER = "viewer", _("Viewer")
    EDITOR = "editor", _("Editor")
    EXPERT = "expert", _("Expert")
    MANAGER = "manager", _("Manager")


class Membership(models.Model):
    """What a user may do in a project: viewers look, editors decide and export, managers also import, run and set.

    Experts do what editors do, and are named for sections (linker.models.people.ExpertSection).
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=8, choices=Role.choices, default=Role.EDITOR)
    # Whether groups of the sign-in gave the role, which then take it away as well (linker.projects.groups).
    by_groups = models.BooleanField(default=False, db_default=False, editable=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.project}"
