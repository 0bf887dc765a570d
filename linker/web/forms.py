"""What people write into the project's pages. Every pattern is checked as RE2, with the column of the fault."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import BaseModelFormSet, modelformset_factory
from django.utils.text import slugify

from linker.engine.candidates import registry as generators
from linker.engine.params import FEWEST_A_TARGET, MatchParams, Mode, PageFilter, Ranking, Sample, Scope
from linker.engine.patterns import PatternError, compile_pattern
from linker.engine.ranking.formula import TAKEN_OFF, FormulaWeights
from linker.engine.ranking.rankers import registry as rankers
from linker.engine.roles.policy import CHOICES as ROLE_CHOICES
from linker.engine.roles.policy import LABELS as PAGE_ROLES
from linker.engine.roles.policy import MEANS, Gives, PageRole, Receives, RoleLinks, role_links
from linker.engine.sensitivity.words import listed, tokens
from linker.errors import UserError
from linker.matching.report_types import MatchReport
from linker.models import (
    Basis,
    Category,
    ChangeKind,
    ExclusionRule,
    PageList,
    Project,
    Role,
    RoleRule,
    Run,
    RunKind,
    SensitiveRule,
    Tier,
)
from linker.models.policy import Sensitivity
from linker.projects.create import SETTINGS, create_project
from linker.projects.members import find_user

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet
    from django.http import QueryDict


def check_pattern(text: str) -> str:
    try:
        compile_pattern(text)
    except PatternError as error:
        raise ValidationError(str(error)) from None
    return text


class PatternField(forms.CharField):
    """One RE2 expression, searched in the address."""

    def __init__(self, **kwargs: Any) -> None:
        attrs = {"class": "mono", "spellcheck": "false", "autocomplete": "off", "autocapitalize": "off"}
        kwargs.setdefault("widget", forms.TextInput(attrs=attrs))
        super().__init__(**{"max_length": 300, "strip": False, **kwargs})

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return check_pattern(text) if text else ""


class LinesField(forms.CharField):
    """A list, one entry a line; empty lines are left out."""

    widget = forms.Textarea(attrs={"rows": 4, "spellcheck": "false", "class": "mono"})

    def __init__(self, *, entry_length: int, patterns: bool = False, **kwargs: Any) -> None:
        super().__init__(strip=False, required=False, **kwargs)
        self.entry_length, self.patterns = entry_length, patterns

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def clean(self, value: Any) -> list[str]:
        entries, faults = [], []
        for number, line in enumerate(super().clean(value).splitlines(), start=1):
            entry = line if self.patterns else line.strip()
            if not entry.strip():
                continue
            if len(entry) > self.entry_length:
                faults.append(f"Line {number} has {len(entry)} characters; {self.entry_length} are allowed.")
            elif self.patterns:
                try:
                    compile_pattern(entry)
                except PatternError as error:
                    faults.append(f"Line {number}, {str(error)[:1].lower()}{str(error)[1:]}")
            entries.append(entry)
        if faults:
            raise ValidationError(faults)
        return entries


def categories_of(project: Project) -> QuerySet[Category]:
    return Category.objects.filter(project=project).order_by("path")


# ------------------------------------------------------------------------------------------------------- projects


SLUG_LENGTH = 50


class ProjectCreateForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "slug", "base_url"]
        labels = {"name": "Name", "slug": "Short name in addresses", "base_url": "Address of the site"}
        help_texts = {
            "slug": "Lower-case letters, digits and hyphens. Left empty, it is made from the name. It cannot change "
            "later.",
            "base_url": "The start of every address of the site, such as https://www.example.com",
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["slug"].required = False
        self.fields["slug"].widget.attrs |= {"data-filled-from": "id_name", "maxlength": SLUG_LENGTH}

    def clean_slug(self) -> str:
        """What was written, else what the name gives."""
        written = self.cleaned_data["slug"]
        slug = written or slugify(self.cleaned_data.get("name", ""))[:SLUG_LENGTH].strip("-")
        if not slug:
            raise ValidationError("The name gives no short name. Write one in lower-case letters, digits and hyphens.")
        if Project.objects.filter(slug=slug).exists():
            raise ValidationError(f"There is already a project with the short name “{slug}”. Choose another one.")
        return slug

    def create(self, manager: AbstractBaseUser | AnonymousUser) -> Project:
        return create_project(
            slug=self.cleaned_data["slug"],
            name=self.cleaned_data["name"],
            base_url=self.cleaned_data["base_url"],
            manager=manager,
        )


class ProjectForm(forms.ModelForm):
    title_patterns = LinesField(
        entry_length=300,
        patterns=True,
        label="Removed from titles",
        help_text="One RE2 pattern a line. A suffix or prefix that most titles share is found automatically.",
    )
    banned_anchors = LinesField(
        entry_length=100, label="Never used as an anchor", help_text="One anchor a line, in upper or lower case."
    )

    class Meta:
        model = Project
        fields = list(SETTINGS)
        widgets = {"query_blend": forms.NumberInput(attrs={"step": "0.01", "min": 0, "max": 1})}
        labels = {
            "base_url": "Address of the site",
            "trailing_slash": "/page and /page/ are",
            "www": "With and without www. are",
            "parameter_urls": "Addresses with a query",
            "vector_source": "Vectors",
            "model_name": "Embedding model",
            "text_recipe": "Text read from a page",
            "link_languages": "Link pages in different languages",
            "anchor_max_length": "Longest anchor, in characters",
            "identical_anchor_limit": "Most links to a page with the same anchor",
            "query_blend": "Weight of search queries",
            "queue_order": "Order of the queue",
        }
        help_texts = {
            "base_url": "Pages of another site are refused at import.",
            "trailing_slash": "Takes effect at the next import of pages.",
            "www": "Takes effect at the next import of pages.",
            "parameter_urls": "Which of them may be suggested as acceptors.",
            "vector_source": "",
            "model_name": "A sentence-transformers model. Put “static:” before its name on very large sites: "
            "word vectors are then fitted to the model and these pages, which is many times faster and a little less "
            "exact. If you change the model, embed and match again.",
            "text_recipe": "If you change the text, embed and match again.",
            "link_languages": "Only if readers of the site read both languages. Takes effect at the next match.",
            "identical_anchor_limit": "Further links get the next best anchor.",
            "query_blend": "0 uses titles and headings only; 1 puts search queries first. Needs an import of search "
            "queries. Takes effect at the next match.",
            "queue_order": "How suggestions to review are sorted unless another order is chosen in the queue. “Most "
            "needed first” weighs the probability of a suggestion by how much its acceptor needs links.",
        }

    # What makes vectors: a change asks for a new embed run.
    EMBEDDING_FIELDS = frozenset({"vector_source", "model_name", "text_recipe"})


# ---------------------------------------------------------------------------------------------------------- tiers


class TierForm(forms.ModelForm):
    """A tier of a basis, which the instance says; the bound has to lie within what the basis can be."""

    class Meta:
        model = Tier
        fields = ["name", "lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held"]

    def __init__(self, *args: Any, basis: str | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if basis is not None:
            self.instance.basis = basis
        lowest = -1 if self.instance.basis == Basis.COSINE else 0
        self.fields["lower_bound"].widget = forms.NumberInput(attrs={"step": "0.01", "min": lowest, "max": 1})

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        basis, bound = values.get("basis") or self.instance.basis, values.get("lower_bound")
        if bound is not None and basis != Basis.COSINE and bound < 0:
            what = "A probability" if basis == Basis.PROBABILITY else "A share of the run"
            self.add_error("lower_bound", f"{what} lies between 0 and 1.")
        if values.get("held") and values.get("export_unreviewed"):
            raise ValidationError("A tier that is held back cannot be exported unreviewed: choose one of the two.")
        return values


class TierFormSetBase(BaseModelFormSet):
    """All tiers of one basis at once, so that bounds can be moved past each other."""

    def clean(self) -> None:
        super().clean()
        kept = [
            form
            for form in self.forms
            if getattr(form, "cleaned_data", None)
            and not form.cleaned_data.get("DELETE")
            and form.cleaned_data.get("name")
        ]
        if not kept:
            raise ValidationError("A basis needs at least one tier.")
        for field, what in (("lower_bound", "start at"), ("name", "are called")):
            seen: set[Any] = set()
            for form in kept:
                value = form.cleaned_data.get(field)
                if value in seen:
                    form.add_error(field, f"Two tiers {what} {value}: they must differ.")
                seen.add(value)

    def validate_unique(self) -> None:
        """Left to clean(): the database's rows are no yardstick while several of them change at once."""


def tier_formset(project: Project, basis: str, data: Any = None) -> TierFormSetBase:
    factory = modelformset_factory(Tier, form=TierForm, formset=TierFormSetBase, extra=1, can_delete=True, max_num=20)
    tiers = Tier.objects.filter(project=project, basis=basis)
    return factory(data, queryset=tiers, prefix="tiers", form_kwargs={"basis": basis})  # type: ignore[return-value]


# -------------------------------------------------------------------------------------------------------- formula


class FormulaForm(forms.Form):
    """The weights of the stated formula, linker.engine.ranking.formula.FormulaWeights."""

    HELP = {
        "similarity": ("Similarity", "How close the two pages are in meaning."),
        "words": (
            "Words",
            "How close they are in wording, and how much of the acceptor’s title is in the donor’s text.",
        ),
        "mention": ("Mention", "How rare and how complete a name of the acceptor in the donor’s text is."),
        "authority": (
            "Authority",
            "The acceptor’s search impressions, compared with its category’s top page. Needs Search Console.",
        ),
        "deficit": ("Deficit", "How far the acceptor’s inbound links are below the median of its category."),
        "density": ("Density, subtracted", "How many of the pages similar to the donor already link there."),
        "distance": ("Distance, subtracted", "The levels of the category tree between the two pages, five at most."),
    }
    MOST = 10

    def __init__(self, data: Any = None, *, chosen: dict[str, float]) -> None:
        super().__init__(data, initial={**self.defaults(), **chosen})
        for name, default in self.defaults().items():
            label, words = self.HELP[name]
            messages = dict.fromkeys(
                ("required", "invalid"), f"{label.split(',')[0]} needs a number; the default is {default:g}."
            )
            limits = dict.fromkeys(("min_value", "max_value"), f"A weight lies between 0 and {self.MOST}.")
            self.fields[name] = forms.FloatField(
                min_value=0,
                max_value=self.MOST,
                label=label,
                help_text=f"{words} Default: {default:g}.",
                widget=forms.NumberInput(attrs={"step": "0.01"}),
                error_messages=messages | limits,
            )

    @staticmethod
    def defaults() -> dict[str, float]:
        return asdict(FormulaWeights())

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and not any(values[name] for name in values if name not in TAKEN_OFF):
            raise ValidationError("At least one weight that is not subtracted must be above 0.")
        return values

    def weights(self) -> dict[str, float]:
        """What differs from the defaults, so that better defaults reach who never chose."""
        usual = self.defaults()
        return {name: value for name, value in self.cleaned_data.items() if value != usual[name]}


# ------------------------------------------------------------------------------------------- sensitive, exclusions


def check_word(text: str) -> str:
    """A manager's own word: forms apart by commas, each of letters or digits, perhaps with a star at an end."""
    forms = [form.strip() for form in text.split(",")]
    for form in forms:
        letters = sum(len(token) for token in tokens(form) if token.isalnum())
        if letters < 2 or (letters < 4 and "*" in form):
            raise ValidationError(f"“{form}” is too short to search for.")
        if "*" in form.strip("*"):
            raise ValidationError(f"“{form}”: put the star at the beginning or end of a word.")
    return ", ".join(forms)


class WordField(forms.CharField):
    """A word with its other forms, apart by commas."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"max_length": 100, **kwargs})

    def clean(self, value: Any) -> str:
        text = super().clean(value)
        return check_word(text) if text else ""


class SensitiveForm(forms.ModelForm):
    word = WordField(
        required=False,
        label="Word in titles, H1 and addresses",
        help_text="Separate its forms by commas: hypnosis, hypnotist, hypnother*",
    )
    url_pattern = PatternField(required=False, label="or addresses that match")

    class Meta:
        model = SensitiveRule
        fields = ["kind", "word", "category", "url_pattern"]
        labels = {"kind": "Kind", "category": "or a category, with everything below it"}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        field = self.fields["category"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset, field.empty_label = categories_of(project), "No category"

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        return check_names_one_thing(self, values)


def check_names_one_thing(form: forms.BaseForm, values: dict[str, Any]) -> dict[str, Any]:
    """Of a sensitive rule's word, category and pattern, one is given."""
    if not form.errors and sum(bool(values.get(name)) for name in ("word", "category", "url_pattern")) != 1:
        raise ValidationError("Enter a word, choose a category or enter a pattern: exactly one of the three.")
    return values


class LeaveOutForm(forms.Form):
    """A word of the lists that means nothing sensitive on this site."""

    kind = forms.ChoiceField(choices=Sensitivity.choices[:3], label="Kind")
    word = WordField(label="Word of the lists")

    def clean_word(self) -> str:
        word = self.cleaned_data["word"].split(",")[0]
        if "*" in word:
            raise ValidationError("Write the word itself, without a star.")
        return word

    def clean(self) -> dict[str, Any]:
        """With `word` as the list has it."""
        values = super().clean() or self.cleaned_data
        kind, word = values.get("kind"), values.get("word")
        if kind and word:
            values["word"] = listed(kind, word)
            if values["word"] is None:
                self.add_error("word", _not_listed(Sensitivity(kind), word))
        return values


def _not_listed(kind: Sensitivity, word: str) -> str:
    others = [label.lower() for other, label in Sensitivity.choices if listed(other, word)]
    if others:
        return f"The {kind.label.lower()} lists do not have “{word}”, but the {others[0]} ones do: choose that kind."
    return (
        f"The {kind.label.lower()} lists do not have “{word}”. Only their words can be ignored here; "
        "a word that a manager added is removed above, from the confirmed rules."
    )


class _AddressRuleForm(forms.ModelForm):
    """What a project says of all addresses that match a pattern."""

    pattern = PatternField(label="Addresses that match")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project


class ExclusionForm(_AddressRuleForm):
    class Meta:
        model = ExclusionRule
        fields = ["pattern", "side", "note"]
        labels = {"side": "Leave them out as", "note": "Note"}


class RoleRuleForm(_AddressRuleForm):
    class Meta:
        model = RoleRule
        fields = ["pattern", "role", "note"]
        labels = {"role": "Their role", "note": "Note"}

    def clean_pattern(self) -> str:
        pattern = self.cleaned_data["pattern"]
        if RoleRule.objects.filter(project=self.instance.project, pattern=pattern).exists():
            raise ValidationError("There is a rule for this pattern already. Remove it first to give another role.")
        return str(pattern)


class RoleLinksForm(forms.Form):
    """What pages of each role give and receive."""

    GIVES = ((Gives.YES, "in the text and beside it"), (Gives.BESIDE, "beside the text alone"), (Gives.NO, "none"))
    RECEIVES = ((Receives.YES, "yes"), (Receives.NAME, "under its own name alone"), (Receives.NO, "none"))

    def __init__(self, data: Any = None, *, changed: dict[str, dict[str, str]]) -> None:
        links = role_links(changed)
        initial = {f"{role}_{name}": value for role, one in links.items() for name, value in one._asdict().items()}
        super().__init__(data, initial=initial)
        for role, label in PAGE_ROLES.items():
            for name, choices in (("gives", self.GIVES), ("receives", self.RECEIVES)):
                self.fields[f"{role}_{name}"] = forms.ChoiceField(
                    choices=[(value.value, words) for value, words in choices], label=f"{label}: {name}"
                )

    def rows(self) -> list[tuple[str, str, forms.BoundField, forms.BoundField]]:
        """A role's label, what it means, and its two fields."""
        return [
            (label, MEANS[role], self[f"{role}_gives"], self[f"{role}_receives"]) for role, label in PAGE_ROLES.items()
        ]

    def chosen(self) -> dict[PageRole, RoleLinks]:
        values = self.cleaned_data
        return {
            role: RoleLinks(Gives(values[f"{role}_gives"]), Receives(values[f"{role}_receives"])) for role in PAGE_ROLES
        }


class PageRoleForm(forms.Form):
    """The role of one page, by hand; empty takes it back."""

    role = forms.ChoiceField(required=False, choices=[("", "As found"), *ROLE_CHOICES])

    def chosen(self) -> PageRole | None:
        return PageRole(self.cleaned_data["role"]) if self.cleaned_data["role"] else None


# -------------------------------------------------------------------------------------------------------- members


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150, label="User name")
    role = forms.ChoiceField(choices=Role.choices, initial=Role.EDITOR)

    def clean_username(self) -> AbstractBaseUser:
        try:
            return find_user(self.cleaned_data["username"])
        except UserError as error:
            raise ValidationError(str(error)) from None


class RoleForm(forms.Form):
    role = forms.ChoiceField(choices=Role.choices)


# ---------------------------------------------------------------------------------------------------------- match


class PageFilterForm(forms.Form):
    """One side of a match run."""

    categories = forms.ModelMultipleChoiceField(
        queryset=Category.objects.none(),
        required=False,
        label="Only in these categories",
        widget=forms.SelectMultiple(attrs={"size": 5}),
        help_text="Each includes its subcategories. Leave empty for the whole site.",
    )
    url_pattern = PatternField(required=False, label="Only addresses that match", help_text="An RE2 pattern.")
    page_list = forms.ModelChoiceField(
        queryset=PageList.objects.none(),
        required=False,
        label="Only pages of this list",
        empty_label="No list: all pages",
    )
    indexable_only = forms.BooleanField(required=False, initial=True, label="Indexable pages only")
    min_clicks = forms.IntegerField(required=False, min_value=0, label="Clicks, from")
    max_clicks = forms.IntegerField(required=False, min_value=0, label="to")
    min_inlinks = forms.IntegerField(required=False, min_value=0, label="Links in, from")
    max_inlinks = forms.IntegerField(required=False, min_value=0, label="to")

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["categories"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = categories_of(project)
        field = self.fields["page_list"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset = PageList.objects.filter(project=project).defer("pages")

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if file := self.data.get(self.add_prefix("file")):
            # Files come with the button beside them alone; here a browser sends the name, which must not be passed
            # over: the run would go over all pages.
            self.add_error("page_list", f"{file} has been chosen but not read yet. Press “Read the list” first.")
        for name in ("clicks", "inlinks"):
            low, high = values.get(f"min_{name}"), values.get(f"max_{name}")
            if low is not None and high is not None and low > high:
                self.add_error(f"max_{name}", f"This is below the lower bound of {low}.")
        return values

    def chosen(self) -> PageFilter:
        values = dict(self.cleaned_data)
        values["categories"] = tuple(sorted(category.pk for category in values["categories"]))
        values["page_list"] = values["page_list"].pk if values["page_list"] else None
        return PageFilter(**values)


class PilotForm(forms.Form):
    """Whether the run is a pilot, over some of its donors first, and which."""

    on = forms.BooleanField(
        required=False,
        label="Run a pilot, over some of the donors",
        help_text="Its suggestions come first in the queue until another match has finished. The page of the run "
        "shows what share of them was accepted.",
    )
    pages = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label="Donors, drawn at random",
        help_text="Leave empty for all donors of the sections below.",
    )
    categories = forms.ModelMultipleChoiceField(
        queryset=Category.objects.none(),
        required=False,
        label="Only from these sections",
        widget=forms.SelectMultiple(attrs={"size": 4}),
        help_text="Categories include their subcategories. Leave empty for the whole site.",
    )
    spread = forms.BooleanField(
        required=False,
        label="Spread over the top categories",
        help_text="Each contributes its share of the donors.",
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31,
        label="Seed of the draw",
        help_text="The same seed draws the same donors again.",
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["categories"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = categories_of(project)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("on") and not self.errors and not values["pages"] and not values["categories"]:
            self.add_error("pages", "Enter how many donors the pilot takes, or choose sections.")
        return values

    def chosen(self) -> Sample | None:
        """The sample, or None where the run is to be no pilot."""
        values = self.cleaned_data
        if not values["on"]:
            return None
        categories = tuple(sorted(category.pk for category in values["categories"]))
        return Sample(values["pages"] or 0, categories, values["spread"], values["seed"] or 0)


def _rankings() -> list[tuple[str, str]]:
    return [(Ranking.AUTO.value, "Automatic"), *rankers.choices()]


class MatchForm(forms.Form):
    """The run's own numbers; the two sides stand in forms of their own. Only the ranking is in sight at first."""

    ranking = forms.ChoiceField(
        label="Ranking",
        help_text="Automatic learns from the site’s own links if there are enough of them. Otherwise it uses the "
        "formula if you have set its weights, or else what was learned from other sites. The run’s page says which "
        "it was and why.",
        choices=_rankings,
    )
    generators = forms.MultipleChoiceField(
        label="Candidates come from",
        widget=forms.CheckboxSelectMultiple,
        choices=generators.choices,
        help_text="Ranking by similarity finds candidates by category only.",
        error_messages={"required": "Choose at least one source of candidates."},
    )
    threshold = forms.FloatField(
        required=False,
        min_value=-1,
        max_value=1,
        label="Lowest score",
        help_text="Pairs that score lower are dropped. Leave empty for the default of the ranking.",
        widget=forms.NumberInput(attrs={"step": "0.001"}),
    )
    inline_per_donor = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label="Most new links in a page’s text",
        help_text="Suggestions and accepted links. A link that the crawl has found on the page is no longer new.",
    )
    related_per_donor = forms.IntegerField(min_value=0, max_value=1000, label="Most new links beside the text")
    inline_in_all = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        label="Most links in a page’s text in total",
        help_text="Including existing links. A page at the cap gets no new ones. 0: no cap.",
    )
    per_1000_words = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label="… and for each 1,000 words",
        help_text="Including existing links. 0: no cap.",
    )
    related_in_all = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        label="Most links beside the text in total",
        help_text="Including existing links in an aside. 0: no cap.",
    )
    per_target = forms.IntegerField(
        min_value=0,
        max_value=1_000_000,
        label="Most new links that a page receives",
        help_text="Existing links do not count; to limit by those, use “Links in” in the acceptors’ filter. 0: no cap.",
    )
    target_share = forms.FloatField(
        min_value=0.01,
        max_value=100,
        label="… and as % of the run’s links",
        help_text=f"{FEWEST_A_TARGET} links are always allowed. 100: no cap.",
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )
    reciprocal = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=1000,
        label="Most links of a page that link back",
        help_text="Leave empty for no limit.",
    )
    mode = forms.ChoiceField(
        label="Allocation of links",
        help_text="Greedy takes the pairs with the highest scores first. Round robin gives every page a first link "
        "before any page gets a second. Highest total finds the best sum of scores that the caps allow; the result is "
        "exact only if links back are not limited.",
        choices=[
            (Mode.BEST.value, "Greedy"),
            (Mode.EQUAL.value, "Round robin"),
            (Mode.OPTIMAL.value, "Highest total"),
        ],
    )
    scope = forms.ChoiceField(
        label="Scope",
        help_text="Which pages a donor may link to. The default is levels of the category tree if the ranking is by "
        "similarity, and the whole site otherwise.",
        choices=[
            (Scope.AUTO.value, "Default of the ranking"),
            (Scope.LEVELS.value, "Levels of the category tree"),
            (Scope.SITE.value, "The whole site"),
        ],
    )
    levels_up = forms.IntegerField(
        min_value=0,
        max_value=20,
        label="Levels up the category tree",
        help_text="How far above the donor’s own category acceptors are looked for. 0: its own category only. Has "
        "no effect if the scope is the whole site.",
    )
    level_penalty = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Penalty for each level",
        help_text="Subtracted from the similarity for each level.",
        widget=forms.NumberInput(attrs={"step": "0.005"}),
    )

    CANDIDATES = ("scope", "levels_up", "generators", "threshold")
    CAPS = (
        *("inline_per_donor", "related_per_donor", "inline_in_all", "per_1000_words", "related_in_all"),
        *("per_target", "target_share", "reciprocal", "mode"),
    )
    COSINE = ("level_penalty",)

    def groups(self) -> list[tuple[str, list[forms.BoundField]]]:
        """What is folded away, under its headings."""
        names = {"Candidates": self.CANDIDATES, "Caps": self.CAPS, "Ranking by similarity only": self.COSINE}
        return [(heading, [self[name] for name in fields]) for heading, fields in names.items()]

    def is_unusual(self) -> bool:
        """Whether what is folded away was sent, or is other than usual: then it is in sight."""
        usual = initial_of(MatchParams())
        names = (*self.CANDIDATES, *self.CAPS, *self.COSINE)
        return self.is_bound or any(self.initial.get(name) != usual[name] for name in names)

    def params(
        self, project: Project, donors: PageFilter, acceptors: PageFilter, pilot: Sample | None = None
    ) -> MatchParams:
        """With the project's weights. Raises ValueError where the numbers do not go together."""
        values = dict(self.cleaned_data)
        values["mode"], values["scope"] = Mode(values["mode"]), Scope(values["scope"])
        # All of them is kept as none named: a run of today then stays one of all when there are more.
        are_all = len(values["generators"]) == len(generators.GENERATORS)
        values["generators"] = () if are_all else tuple(values["generators"])
        values["target_share"] = round(values["target_share"] / 100, 6)
        pool = max(MatchParams.pool, 2 * (values["inline_per_donor"] + values["related_per_donor"]))
        return MatchParams(
            **values,
            pool=pool,
            weights=project.formula_weights,
            donors=donors,
            acceptors=acceptors,
            pilot=pilot,
        )


def initial_of(params: MatchParams) -> dict[str, Any]:
    """The parameters as the match form shows them."""
    shown = params.to_dict()
    shown["generators"] = list(params.generators or generators.GENERATORS)
    shown["target_share"] = round(100 * params.target_share, 4)
    # A pilot is over when the next run is asked for: its settings stay in the form, that it is one does not.
    shown["pilot"] = asdict(params.pilot or Sample())
    return shown


def sent_to(form: forms.BaseForm, data: QueryDict) -> dict[str, Any]:
    """What a form was sent, as what it starts with: shown anew and not judged yet."""
    return {
        name: field.widget.value_from_datadict(data, {}, form.add_prefix(name)) for name, field in form.fields.items()
    }


def match_initial(project: Project) -> dict[str, Any]:
    """What the match form starts with: the last match run's parameters, else the defaults.

    The threshold is kept only where the run was ranked by what the form names: a similarity of 0.6 is no probability,
    and what "auto" comes to may differ the next time. Of a run from before there were three rankings only the filters
    are kept: its threshold was meant for cosine.
    """
    runs = Run.objects.filter(project=project, kind=RunKind.MATCH)
    last, report = runs.values_list("params", "report").first() or ({}, {})
    if "inline_per_donor" not in last:
        last = {side: last[side] for side in ("donors", "acceptors") if side in last}
    params = MatchParams.from_dict(last)
    if MatchReport.from_json(report).ranking != params.ranking:
        params = replace(params, threshold=None)
    return initial_of(params)


# ------------------------------------------------------------------------------------------------------------ log

_FORMS: dict[str, tuple[type[forms.Form | forms.ModelForm], ...]] = {
    ChangeKind.PROJECT: (ProjectForm, ProjectCreateForm),
    ChangeKind.SETTINGS: (ProjectForm,),
    ChangeKind.TIERS: (TierForm,),
    ChangeKind.SENSITIVE: (SensitiveForm,),
    ChangeKind.EXCLUSIONS: (ExclusionForm,),
    ChangeKind.MEMBERS: (MemberForm,),
}
# What the log of changes has and its form does not ask for, or asks for as one of several.
_OTHER_LABELS = {
    ChangeKind.SENSITIVE: {
        "category": "Category",
        "url_pattern": "Addresses that match",
        "whole_site": "The whole site",
        "state": "Decision",
    },
}


def form_labels(kind: str) -> dict[str, str]:
    """The labels of the form by which a kind of change is made, by field; empty where there is no form."""
    labels = {name: label for name, (label, _) in FormulaForm.HELP.items()} if kind == ChangeKind.RANKING else {}
    for form in _FORMS.get(kind, ()):
        labels |= {name: str(field.label) for name, field in form.base_fields.items() if field.label}
    return labels | _OTHER_LABELS.get(ChangeKind(kind), {})
