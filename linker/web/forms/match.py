"""What a match run is asked for: its numbers, its two sides, and whether it is a pilot."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext, gettext_lazy
from django.utils.translation import gettext as _

from linker.engine.candidates import registry as generators
from linker.engine.params import MIN_TARGET_CAP, MatchParams, Mode, PageFilter, Ranking, Sample, Scope
from linker.engine.ranking.rankers import registry as rankers
from linker.matching.report_types import MatchReport
from linker.models import Category, PageList, Project, Run, RunKind
from linker.pages.page_lists import SIDES
from linker.web.forms.fields import PatternField, categories_of

if TYPE_CHECKING:
    from django.http import QueryDict


class PageFilterForm(forms.Form):
    """One side of a match run."""

    categories = forms.ModelMultipleChoiceField(
        queryset=Category.objects.none(),
        required=False,
        label=gettext_lazy("Only in these categories"),
        widget=forms.SelectMultiple(attrs={"size": 5}),
        help_text=gettext_lazy("Each includes its subcategories. Leave empty for the whole site."),
    )
    url_pattern = PatternField(
        required=False, label=gettext_lazy("Only addresses that match"), help_text=gettext_lazy("An RE2 pattern.")
    )
    page_list = forms.ModelChoiceField(
        queryset=PageList.objects.none(),
        required=False,
        label=gettext_lazy("Only pages of this list"),
        empty_label=gettext_lazy("No list: all pages"),
    )
    indexable_only = forms.BooleanField(required=False, initial=True, label=gettext_lazy("Indexable pages only"))
    min_clicks = forms.IntegerField(required=False, min_value=0, label=gettext_lazy("Clicks, from"))
    max_clicks = forms.IntegerField(required=False, min_value=0, label=gettext_lazy("to"))
    min_inlinks = forms.IntegerField(required=False, min_value=0, label=gettext_lazy("Links in, from"))
    max_inlinks = forms.IntegerField(required=False, min_value=0, label=gettext_lazy("to"))

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
            self.add_error(
                "page_list",
                _("%(file)s has been chosen but not read yet. Press “Read the list” first.") % {"file": file},
            )
        for name in ("clicks", "inlinks"):
            low, high = values.get(f"min_{name}"), values.get(f"max_{name}")
            if low is not None and high is not None and low > high:
                self.add_error(f"max_{name}", _("This is below the lower bound of %(low)d.") % {"low": low})
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
        label=gettext_lazy("Run a pilot, over some of the donors"),
        help_text=gettext_lazy(
            "Its suggestions come first in the queue until another match has finished. The page of the run "
            "shows what share of them was accepted."
        ),
    )
    pages = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=1_000_000,
        label=gettext_lazy("Donors, drawn at random"),
        help_text=gettext_lazy("Leave empty for all donors of the sections below."),
    )
    categories = forms.ModelMultipleChoiceField(
        queryset=Category.objects.none(),
        required=False,
        label=gettext_lazy("Only from these sections"),
        widget=forms.SelectMultiple(attrs={"size": 4}),
        help_text=gettext_lazy("Categories include their subcategories. Leave empty for the whole site."),
    )
    spread = forms.BooleanField(
        required=False,
        label=gettext_lazy("Spread over the top categories"),
        help_text=gettext_lazy("Each contributes its share of the donors."),
    )
    seed = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31,
        label=gettext_lazy("Seed of the draw"),
        help_text=gettext_lazy("The same seed draws the same donors again."),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["categories"]
        assert isinstance(field, forms.ModelMultipleChoiceField)
        field.queryset = categories_of(project)

    def clean(self) -> dict[str, Any]:
        values = super().clean() or self.cleaned_data
        if values.get("on") and not self.errors and not values["pages"] and not values["categories"]:
            self.add_error("pages", _("Enter how many donors the pilot takes, or choose sections."))
        return values

    def chosen(self) -> Sample | None:
        """The sample, or None where the run is to be no pilot."""
        values = self.cleaned_data
        if not values["on"]:
            return None
        categories = tuple(sorted(category.pk for category in values["categories"]))
        return Sample(values["pages"] or 0, categories, values["spread"], values["seed"] or 0)


def _rankings() -> list[tuple[str, str]]:
    return [(Ranking.AUTO.value, _("Automatic")), *((name, _(label)) for name, label in rankers.choices())]


class MatchForm(forms.Form):
    """The run's own numbers; each of the two sides has a form of its own. Only the ranking is in sight at first."""

    ranking = forms.ChoiceField(
        label=gettext_lazy("Ranking"),
        help_text=gettext_lazy(
            "Automatic learns from the site’s own links if there are enough of them. Otherwise it uses the "
            "formula if you have set its weights, or else what was learned from other sites. The run’s page says which "
            "it was and why."
        ),
        choices=_rankings,
    )
    generators = forms.MultipleChoiceField(
        label=gettext_lazy("Candidates come from"),
        widget=forms.CheckboxSelectMultiple,
        choices=lambda: [(name, gettext(label)) for name, label in generators.choices()],
        help_text=gettext_lazy("Ranking by similarity finds candidates by category only."),
        error_messages={"required": gettext_lazy("Choose at least one source of candidates.")},
    )
    threshold = forms.FloatField(
        required=False,
        min_value=-1,
        max_value=1,
        label=gettext_lazy("Lowest score"),
        help_text=gettext_lazy("Pairs that score lower are dropped. Leave empty for the default of the ranking."),
        widget=forms.NumberInput(attrs={"step": "0.001"}),
    )
    inline_per_donor = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label=gettext_lazy("Most new links in a page’s text"),
        help_text=gettext_lazy(
            "Suggestions and accepted links. A link that the crawl has found on the page is no longer new."
        ),
    )
    related_per_donor = forms.IntegerField(
        min_value=0, max_value=1000, label=gettext_lazy("Most new links beside the text")
    )
    inline_in_all = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        label=gettext_lazy("Most links in a page’s text in total"),
        help_text=gettext_lazy("Including existing links. A page at the cap gets no new ones. 0: no cap."),
    )
    per_1000_words = forms.IntegerField(
        min_value=0,
        max_value=1000,
        label=gettext_lazy("… and for each 1,000 words"),
        help_text=gettext_lazy("Including existing links. 0: no cap."),
    )
    related_in_all = forms.IntegerField(
        min_value=0,
        max_value=10_000,
        label=gettext_lazy("Most links beside the text in total"),
        help_text=gettext_lazy("Including existing links in an aside. 0: no cap."),
    )
    per_target = forms.IntegerField(
        min_value=0,
        max_value=1_000_000,
        label=gettext_lazy("Most new links that a page receives"),
        help_text=gettext_lazy(
            "Existing links do not count; to limit by those, use “Links in” in the acceptors’ filter. 0: no cap."
        ),
    )
    target_share = forms.FloatField(
        min_value=0.01,
        max_value=100,
        label=gettext_lazy("… and as % of the run’s links"),
        help_text=format_lazy(gettext_lazy("{least} links are always allowed. 100: no cap."), least=MIN_TARGET_CAP),
        widget=forms.NumberInput(attrs={"step": "0.1"}),
    )
    reciprocal = forms.IntegerField(
        required=False,
        min_value=0,
        max_value=1000,
        label=gettext_lazy("Most links of a page that link back"),
        help_text=gettext_lazy("Leave empty for no limit."),
    )
    mode = forms.ChoiceField(
        label=gettext_lazy("Allocation of links"),
        help_text=gettext_lazy(
            "Greedy takes the pairs with the highest scores first. Round robin gives every page a first link before "
            "any page gets a second. Highest total finds the best sum of scores that the caps allow; the result is "
            "exact only if links back are not limited."
        ),
        choices=[
            (Mode.BEST.value, gettext_lazy("Greedy")),
            (Mode.EQUAL.value, gettext_lazy("Round robin")),
            (Mode.OPTIMAL.value, gettext_lazy("Highest total")),
        ],
    )
    scope = forms.ChoiceField(
        label=gettext_lazy("Scope"),
        help_text=gettext_lazy(
            "Which pages a donor may link to. The default is levels of the category tree if the ranking is by "
            "similarity, and the whole site otherwise."
        ),
        choices=[
            (Scope.AUTO.value, gettext_lazy("Default of the ranking")),
            (Scope.LEVELS.value, gettext_lazy("Levels of the category tree")),
            (Scope.SITE.value, gettext_lazy("The whole site")),
        ],
    )
    levels_up = forms.IntegerField(
        min_value=0,
        max_value=20,
        label=gettext_lazy("Levels up the category tree"),
        help_text=gettext_lazy(
            "How far above the donor’s own category acceptors are looked for. 0: its own category only. Has "
            "no effect if the scope is the whole site."
        ),
    )
    level_penalty = forms.FloatField(
        min_value=0,
        max_value=1,
        label=gettext_lazy("Penalty for each level"),
        help_text=gettext_lazy("Subtracted from the similarity for each level."),
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
        names = {
            _("Candidates"): self.CANDIDATES,
            _("Caps"): self.CAPS,
            _("Ranking by similarity only"): self.COSINE,
        }
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
    """What a form was sent, as what it starts with: shown again and not validated yet."""
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


@dataclass(frozen=True)
class RunForms:
    """The forms that make a match run: its numbers, its two sides, and whether it is a pilot."""

    match: MatchForm
    sides: dict[str, PageFilterForm]
    pilot: PilotForm

    @property
    def all(self) -> list[MatchForm | PageFilterForm | PilotForm]:
        return [self.match, *self.sides.values(), self.pilot]

    def are_valid(self) -> bool:
        """Every form is asked, so that each shows what is wrong with it."""
        return not [form for form in self.all if not form.is_valid()]

    def params(self, project: Project) -> MatchParams:
        """Raises ValueError where the numbers do not go together."""
        donors, acceptors = (self.sides[side].chosen() for side in SIDES)
        return self.match.params(project, donors, acceptors, self.pilot.chosen())


def run_forms(project: Project, data: QueryDict | None) -> RunForms:
    initial = match_initial(project)
    sides = {
        side: PageFilterForm(
            data, prefix=side, project=project, initial=initial.get(side), use_required_attribute=False
        )
        for side in SIDES
    }
    pilot = PilotForm(data, prefix="pilot", project=project, initial=initial["pilot"], use_required_attribute=False)
    return RunForms(MatchForm(data, initial=initial), sides, pilot)
