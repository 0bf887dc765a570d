"""What a project's managers decide once, for all edges."""

from __future__ import annotations

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from linker.engine.roles.policy import CHOICES
from linker.models.page import Block, Category, Page
from linker.models.project import Basis, Project
from linker.wording import in_english


class Placement(models.TextChoices):
    INLINE = "inline", _("In the text")
    RELATED = "related", _("Beside the text")


class Rel(models.TextChoices):
    FOLLOW = "follow", "follow"
    NOFOLLOW = "nofollow", "nofollow"
    UGC = "ugc", "ugc"


class Tier(models.Model):
    """A reading of an edge: the tier of the project's basis with the highest `lower_bound` at or below its value.

    An edge without a probability, since nothing was learned, is read by its similarity where probabilities are asked
    for. `lower_bound` is a probability, a cosine, or the share of the run's edges that score no higher (0.9: the best
    tenth).

    `rel` is for links that are exported unreviewed; `confirmed_rel` what an editor's accept makes it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tiers")
    basis = models.CharField(max_length=12, choices=Basis.choices, default=Basis.COSINE)
    name = models.CharField(max_length=40)
    lower_bound = models.FloatField(validators=[MinValueValidator(-1.0), MaxValueValidator(1.0)])
    placement = models.CharField(max_length=8, choices=Placement.choices, default=Placement.RELATED)
    rel = models.CharField("rel while unreviewed", max_length=8, choices=Rel.choices, default=Rel.NOFOLLOW)
    confirmed_rel = models.CharField("rel once accepted", max_length=8, choices=Rel.choices, default=Rel.FOLLOW)
    export_unreviewed = models.BooleanField("may be exported unreviewed", default=False)
    held = models.BooleanField("held back", default=False, help_text="Kept out of the queue until asked for")

    class Meta:
        ordering = ["-lower_bound"]
        constraints = [
            models.UniqueConstraint(fields=["project", "basis", "name"], name="tier_name_once"),
            models.UniqueConstraint(fields=["project", "basis", "lower_bound"], name="tier_bound_once"),
            # What the bounds of a cohort refer to: linker/migrations/0025_cohorts.py.
            models.UniqueConstraint(fields=["id", "project", "basis"], name="tier_of_basis"),
            models.CheckConstraint(condition=models.Q(basis__in=Basis.values), name="tier_basis_known"),
            models.CheckConstraint(
                condition=models.Q(basis="cosine", lower_bound__gte=-1.0, lower_bound__lte=1.0)
                | models.Q(lower_bound__gte=0.0, lower_bound__lte=1.0),
                name="tier_bound_fits_basis",
            ),
            models.CheckConstraint(
                condition=~models.Q(held=True, export_unreviewed=True),
                name="tier_held_is_not_exported_unreviewed",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Sensitivity(models.TextChoices):
    MEDICAL = "medical", _("Medical")
    LEGAL = "legal", _("Legal")
    FINANCIAL = "financial", _("Financial")
    OTHER = "other", _("Other")


class SensitiveState(models.TextChoices):
    PROPOSED = "proposed", _("To check")
    CONFIRMED = "confirmed", _("Confirmed")
    DISMISSED = "dismissed", _("Dismissed")


class SensitiveDue(models.TextChoices):
    """What a run has yet to do about a rule that was changed, in a project that is too large to do it at once."""

    LOOK = "look", _("Look for its pages")
    MARK = "mark", _("Mark its suggestions")
    REMOVE = "remove", _("Remove it")  # and mark its suggestions; it counts as dismissed


class SensitiveRule(models.Model):
    """Pages whose suggestions always need a person: a category with all below it, a word, a pattern on addresses, or
    the whole site, for all of which `category`, `word` and `url_pattern` are empty.

    What an import proposes counts as what a manager has confirmed does; only what was dismissed does not count. It
    stays, so that no later import proposes it again. `word` is as a list or a manager writes it, `word_key` what two
    ways to write it share (linker.engine.sensitivity.words).

    `pages` counts the live pages it takes, `places` those of a word by linker.engine.sensitivity.matcher.Place, and
    `examples` are the first ones' titles: as of the last look through all pages.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sensitive_rules")
    kind = models.CharField(max_length=10, choices=Sensitivity.choices, default=Sensitivity.MEDICAL)
    category = models.ForeignKey(Category, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    url_pattern = models.CharField(
        max_length=300, blank=True, default="", db_default="", help_text="Regular expression, RE2 syntax"
    )
    word = models.CharField(max_length=100, blank=True, default="", db_default="")
    word_key = models.CharField(max_length=200, blank=True, default="", db_default="")
    whole_site = models.BooleanField(default=False, db_default=False)

    state = models.CharField(
        max_length=10,
        choices=SensitiveState.choices,
        default=SensitiveState.CONFIRMED,
        db_default=SensitiveState.CONFIRMED,
    )
    proposed = models.BooleanField(default=False, db_default=False, help_text="Found by an import, not written by hand")
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    decided_at = models.DateTimeField(null=True, blank=True)

    due = models.CharField(max_length=6, choices=SensitiveDue.choices, blank=True, default="", db_default="")

    pages = models.IntegerField(null=True, blank=True, help_text="Null until they are counted")
    places = models.JSONField(default=dict)
    examples = ArrayField(models.TextField(), default=list)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(due__in=["", "look", "mark"]) | models.Q(due="remove", state="dismissed"),
                name="sensitive_due_known",
            ),
            models.CheckConstraint(
                condition=models.Q(category__isnull=False, url_pattern="", word="", whole_site=False)
                | (models.Q(category__isnull=True, word="", whole_site=False) & ~models.Q(url_pattern=""))
                | (models.Q(category__isnull=True, url_pattern="", whole_site=False) & ~models.Q(word=""))
                | models.Q(category__isnull=True, url_pattern="", word="", whole_site=True),
                name="sensitive_rule_names_one_thing",
            ),
            models.CheckConstraint(condition=models.Q(state__in=SensitiveState.values), name="sensitive_state_known"),
            models.CheckConstraint(
                condition=models.Q(state="proposed", decided_at=None) | ~models.Q(state="proposed"),
                name="sensitive_proposed_is_undecided",
            ),
            models.UniqueConstraint(
                fields=["project", "kind", "word_key"],
                condition=~models.Q(word_key=""),
                name="sensitive_word_once",
            ),
            models.UniqueConstraint(
                fields=["project", "kind"], condition=models.Q(whole_site=True), name="sensitive_site_once"
            ),
            models.UniqueConstraint(
                fields=["project", "kind", "category"],
                condition=models.Q(proposed=True, category__isnull=False),
                name="sensitive_category_proposed_once",
            ),
        ]

    def __str__(self) -> str:
        return f"{in_english(Sensitivity(self.kind).label)}: {self.subject}"

    @property
    def adjective(self) -> str:
        """What a page is that the rule takes: "medical", or just "sensitive" where the kind has no name."""
        return "sensitive" if self.kind == Sensitivity.OTHER else in_english(Sensitivity(self.kind).label).lower()

    @property
    def subject(self) -> str:
        """What it is about, without its kind."""
        if self.whole_site:
            return "the whole site"
        return f"“{self.word}”" if self.word else str(self.category or self.url_pattern)

    @property
    def found_in(self) -> list[tuple[str, int]]:
        """Where on how many pages the word is."""
        names = {"title": "in titles", "h1": "in H1s", "address": "in addresses"}
        return [(label, self.places[place]) for place, label in names.items() if self.places.get(place)]


class SensitivePage(models.Model):
    """A page that the word or the pattern of a rule was found on, whatever became of the rule."""

    rule = models.ForeignKey(SensitiveRule, on_delete=models.CASCADE, related_name="found", db_index=False)
    page = models.ForeignKey(Page, on_delete=models.CASCADE, related_name="+")
    place = models.CharField(max_length=8, help_text="linker.engine.sensitivity.matcher.Place")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["rule", "page"], name="sensitive_page_once")]


class Side(models.TextChoices):
    DONOR = "donor", _("Donors")
    ACCEPTOR = "acceptor", _("Acceptors")
    BOTH = "both", _("Both")


class ExclusionRule(models.Model):
    """Addresses that never give, or never receive, a suggested link."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="exclusion_rules")
    pattern = models.CharField(max_length=300, help_text="Regular expression, RE2 syntax, searched in the address")
    side = models.CharField(max_length=8, choices=Side.choices, default=Side.BOTH)
    note = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "pattern", "side"], name="exclusion_rule_once"),
        ]

    def __str__(self) -> str:
        return self.pattern


class RoleRule(models.Model):
    """Addresses whose pages have a role, whatever was found. The first rule that matches counts, the oldest first."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="role_rules")
    pattern = models.CharField(max_length=300, help_text="Regular expression, RE2 syntax, searched in the address")
    role = models.CharField(max_length=8, choices=CHOICES)
    note = models.CharField(max_length=200, blank=True, default="")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "pattern"], name="role_rule_once"),
        ]

    def __str__(self) -> str:
        return self.pattern


class CountsAs(models.TextChoices):
    TEXT = "text", _("Links in the text")
    LIST = "list", _("Links of a list")

    @property
    def block(self) -> Block:
        return Block.CONTENT if self is CountsAs.TEXT else Block.LIST


class ReadAs(models.TextChoices):
    """The part of a page in which an import found a link."""

    TEXT = "text", _("In the text")
    LIST = "list", _("In lists of pages")
    ASIDE = "aside", _("Beside the text")

    @property
    def block(self) -> Block:
        return {ReadAs.TEXT: Block.CONTENT, ReadAs.LIST: Block.LIST, ReadAs.ASIDE: Block.ASIDE}[self]


class LinkRule(models.Model):
    """Links that count as links in the text, or as those of a list, whatever the crawl read. All that is filled in has
    to match. The first rule that matches counts, the oldest first.

    Links of menus, headers and footers are out of its reach: they are kept without their words, one for two pages, and
    a rule about addresses would make each page's menu a text.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="link_rules")
    source_pattern = models.CharField(max_length=300, blank=True, default="", help_text="RE2, searched in the address")
    target_pattern = models.CharField(max_length=300, blank=True, default="", help_text="RE2, searched in the address")
    words = models.CharField(
        max_length=300,
        blank=True,
        default="",
        help_text="The whole anchor; capitals and spaces do not matter, and * stands for any words",
    )
    read_as = models.CharField(max_length=5, choices=ReadAs.choices, blank=True, default="", db_default="")
    counts_as = models.CharField(max_length=4, choices=CountsAs.choices)
    note = models.CharField(max_length=200, blank=True, default="")
    links = models.BigIntegerField(
        null=True, blank=True, editable=False, help_text="That it took when links were last read by rules"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "source_pattern", "target_pattern", "words", "read_as"], name="link_rule_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(source_pattern="", target_pattern="", words=""), name="link_rule_says_which"
            ),
            models.CheckConstraint(condition=models.Q(counts_as__in=CountsAs.values), name="link_rule_counts_as_known"),
            models.CheckConstraint(
                condition=models.Q(read_as__in=["", *ReadAs.values]), name="link_rule_read_as_known"
            ),
        ]

    def __str__(self) -> str:
        words = f"\N{LEFT DOUBLE QUOTATION MARK}{self.words}\N{RIGHT DOUBLE QUOTATION MARK}" if self.words else ""
        ends = f"{self.source_pattern} \N{RIGHTWARDS ARROW} {self.target_pattern}".strip()
        return " ".join(part for part in (words, ends if ends != "\N{RIGHTWARDS ARROW}" else "") if part)
