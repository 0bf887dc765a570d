"""What people write into the project's pages. Every pattern is checked as RE2, with the column of the fault."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.models import BaseModelFormSet, modelformset_factory

from linker.errors import UserError
from linker.matching.params import MatchParams, Mode, PageFilter, Ranking
from linker.members import find_user
from linker.models import Category, ExclusionRule, Project, Role, Run, RunKind, SensitiveCategory, Tier
from linker.patterns import PatternError, compile_pattern
from linker.projects import create_project

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
    from django.db.models import QuerySet


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


class ProjectCreateForm(forms.ModelForm):
    class Meta:
        model = Project
        fields = ["name", "slug", "base_url"]
        labels = {"name": "Name", "slug": "Short name in addresses", "base_url": "Address of the site"}
        help_texts = {
            "slug": "Small letters, digits and hyphens. It cannot be changed later.",
            "base_url": "The start of every address of the site, such as https://www.example.com",
        }

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
        help_text="One RE2 pattern a line. The suffix or prefix most titles share is found without this.",
    )
    banned_anchors = LinesField(
        entry_length=100, label="Never used as an anchor", help_text="One anchor a line, whatever its case."
    )

    class Meta:
        model = Project
        fields = [
            "name",
            "base_url",
            "trailing_slash",
            "www",
            "parameter_urls",
            "vector_source",
            "model_name",
            "text_recipe",
            "title_patterns",
            "banned_anchors",
            "anchor_max_length",
            "identical_anchor_limit",
            "query_blend",
        ]
        widgets = {"query_blend": forms.NumberInput(attrs={"step": "0.01", "min": 0, "max": 1})}
        labels = {
            "base_url": "Address of the site",
            "trailing_slash": "/page and /page/ are",
            "www": "With and without www. are",
            "parameter_urls": "Addresses with a query",
            "vector_source": "Vectors",
            "model_name": "Embedding model",
            "text_recipe": "Text of a page",
            "anchor_max_length": "Longest anchor, in characters",
            "identical_anchor_limit": "Same anchor for one page, at most",
            "query_blend": "Weight of search queries",
        }
        help_texts = {
            "base_url": "Pages of another site are refused at import.",
            "trailing_slash": "Takes effect at the next import of pages.",
            "www": "Takes effect at the next import of pages.",
            "parameter_urls": "Which of them may be suggested as targets.",
            "vector_source": "",
            "model_name": "A sentence-transformers model. Another model means: embed, then match again.",
            "text_recipe": "Another text means: embed, then match again.",
            "identical_anchor_limit": "After that the next candidate is taken.",
            "query_blend": "From 0, titles and headings alone, to 1, what people searched for first. Needs an import "
            "of search queries; takes effect at the next match.",
        }

    # What makes vectors: a change asks for a new embed run.
    EMBEDDING_FIELDS = frozenset({"vector_source", "model_name", "text_recipe"})


# ---------------------------------------------------------------------------------------------------------- tiers


class TierForm(forms.ModelForm):
    class Meta:
        model = Tier
        fields = ["name", "lower_bound", "placement", "rel", "confirmed_rel", "export_unreviewed", "held"]
        widgets = {"lower_bound": forms.NumberInput(attrs={"step": "0.01", "min": -1, "max": 1})}

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("held") and values.get("export_unreviewed"):
            raise ValidationError("A tier that is held back cannot be exported unreviewed: choose one of the two.")
        return values


class TierFormSetBase(BaseModelFormSet):
    """All tiers at once, so that bounds can be moved past each other."""

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
            raise ValidationError("A project needs at least one tier.")
        for field, what in (("lower_bound", "start at"), ("name", "are called")):
            seen: set[Any] = set()
            for form in kept:
                value = form.cleaned_data.get(field)
                if value in seen:
                    form.add_error(field, f"Two tiers {what} {value}: they must differ.")
                seen.add(value)

    def validate_unique(self) -> None:
        """Left to clean(): the database's rows are no yardstick while several of them change at once."""


def tier_formset(project: Project, data: Any = None) -> TierFormSetBase:
    factory = modelformset_factory(Tier, form=TierForm, formset=TierFormSetBase, extra=1, can_delete=True, max_num=20)
    return factory(data, queryset=Tier.objects.filter(project=project), prefix="tiers")  # type: ignore[return-value]


# ------------------------------------------------------------------------------------------- sensitive, exclusions


class SensitiveForm(forms.ModelForm):
    url_pattern = PatternField(required=False, label="or addresses that match")

    class Meta:
        model = SensitiveCategory
        fields = ["kind", "category", "url_pattern"]
        labels = {"kind": "Kind", "category": "Category, with everything below it"}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project
        field = self.fields["category"]
        assert isinstance(field, forms.ModelChoiceField)
        field.queryset, field.empty_label = categories_of(project), "No category"

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if not self.errors and bool(values.get("category")) == bool(values.get("url_pattern")):
            raise ValidationError("Choose a category or write a pattern: one of the two.")
        return values


class ExclusionForm(forms.ModelForm):
    pattern = PatternField(label="Addresses that match")

    class Meta:
        model = ExclusionRule
        fields = ["pattern", "side", "note"]
        labels = {"side": "Leave them out as", "note": "Note"}

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.instance.project = project


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
        help_text="Each with everything below it; none chosen means the whole site.",
    )
    url_pattern = PatternField(required=False, label="Only addresses that match", help_text="An RE2 pattern.")
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

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        for name in ("clicks", "inlinks"):
            low, high = values.get(f"min_{name}"), values.get(f"max_{name}")
            if low is not None and high is not None and low > high:
                self.add_error(f"max_{name}", f"This is below the lower bound of {low}.")
        return values

    def chosen(self) -> PageFilter:
        values = dict(self.cleaned_data)
        values["categories"] = tuple(sorted(category.pk for category in values["categories"]))
        return PageFilter(**values)


class MatchForm(forms.Form):
    """The run's own numbers; the two sides stand in forms of their own."""

    ranking = forms.ChoiceField(
        label="Ranking",
        help_text="Learned: over the whole site, from the links it has; the score is a probability, 0.01 and up.",
        choices=[
            (Ranking.COSINE.value, "Cosine, by category"),
            (Ranking.LEARNED.value, "Learned from links"),
        ],
    )
    levels_up = forms.IntegerField(
        min_value=0,
        max_value=20,
        label="Levels up",
        help_text="How far above its own category a donor looks. 0: its own category only.",
    )
    level_penalty = forms.FloatField(
        min_value=0,
        max_value=1,
        label="Penalty a level",
        help_text="Taken off the similarity for each level.",
        widget=forms.NumberInput(attrs={"step": "0.005"}),
    )
    threshold = forms.FloatField(
        min_value=-1,
        max_value=1,
        label="Lowest score",
        help_text="Nothing below is kept.",
        widget=forms.NumberInput(attrs={"step": "0.01"}),
    )
    per_donor = forms.IntegerField(min_value=1, max_value=1000, label="Links a page gives, at most")
    per_target = forms.IntegerField(
        min_value=0, max_value=1_000_000, label="Links a page receives, at most", help_text="0: no cap."
    )
    mode = forms.ChoiceField(
        label="How links are given out",
        help_text="Equal rounds: every page gets a first link before any gets a second.",
        choices=[
            (Mode.BEST.value, "Best first"),
            (Mode.EQUAL.value, "Equal rounds"),
        ],
    )

    def params(self, donors: PageFilter, acceptors: PageFilter) -> MatchParams:
        """Raises ValueError where the numbers do not go together."""
        values = dict(self.cleaned_data)
        pool = max(MatchParams.pool, 2 * values["per_donor"])
        chosen = {**values, "mode": Mode(values["mode"]), "ranking": Ranking(values["ranking"])}
        return MatchParams(**chosen, pool=pool, donors=donors, acceptors=acceptors)


def match_initial(project: Project) -> dict[str, Any]:
    """What the match form starts with: the last match run's parameters, else the defaults with the lowest tier's
    bound as the threshold."""
    last = Run.objects.filter(project=project, kind=RunKind.MATCH).values_list("params", flat=True).first()
    if last:
        return last
    lowest = Tier.objects.filter(project=project).order_by("lower_bound").first()
    defaults = MatchParams() if lowest is None else MatchParams(threshold=lowest.lower_bound)
    return defaults.to_dict()
