"""Calibrations: started, followed, read as curves, and applied to a tier."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.contrib import messages
from django.http import HttpResponseRedirect, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from linker.errors import UserError
from linker.models import Basis, Cohort, Role, Run, RunKind
from linker.projects.access import member, posts
from linker.projects.policies.cohorts import name_of
from linker.runs.lifecycle import RunIsActive, start_run
from linker.web.forms.cohorts import former_bounds
from linker.web.forms.tiers import former_values
from linker.web.page_context import shell
from linker.web.views.settings.cohorts import address_of
from linker.web.views.settings.undo import offer_undo
from linker.wording import percent
from review.models import Sample, SampleKind, SampleLink
from review.quality import calibrations
from review.quality.curves import bound_for
from review.quality.rates import agreement_of
from review.web.curve_drawing import drawing
from review.web.views.queue import user_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

    from linker.models import Membership, Project, Tier
    from linker.projects.tier_effect import Effect

MOST_LISTED = 20


class StartForm(forms.Form):
    """How a sample is drawn."""

    size = forms.IntegerField(
        label=gettext_lazy("Links to judge"), initial=calibrations.SIZES, min_value=calibrations.LEAST,
        max_value=calibrations.MOST, help_text=gettext_lazy("As many from each band."),
    )  # fmt: skip
    bands = forms.TypedChoiceField(
        label=gettext_lazy("Bands of probability"), coerce=int, choices=[(one, one) for one in calibrations.BANDS]
    )
    cohort = forms.TypedChoiceField(
        label=gettext_lazy("Calibrate the links"), coerce=int, empty_value="", required=False
    )
    twice = forms.BooleanField(label=gettext_lazy("Two people judge each link"), required=False)

    def __init__(self, project: Project, data: QueryDict | None = None) -> None:
        super().__init__(data)
        cohorts = Cohort.objects.filter(project=project, basis=Basis.PROBABILITY).select_related("category")
        choices = [(one.pk, one.said) for one in cohorts.order_by("pk")]
        self.fields["cohort"].choices = [("", _("Every link")), *choices]  # type: ignore[attr-defined]
        if not choices:
            del self.fields["cohort"]


class ChoiceForm(forms.Form):
    """Which precision a manager wants, and of which tier."""

    wanted = forms.IntegerField(label=gettext_lazy("Wanted precision, %"), min_value=1, max_value=100, initial=80)
    tier = forms.TypedChoiceField(label=gettext_lazy("Tier"), coerce=int)
    lenient = forms.BooleanField(label=gettext_lazy("Borderline counts as good"), required=False)
    sure = forms.BooleanField(label=gettext_lazy("The lower end of the interval reaches it"), required=False)

    shown = forms.FloatField(required=False, widget=forms.HiddenInput)  # the bound that the manager has seen

    def __init__(self, sample: Sample, data: QueryDict | None = None) -> None:
        super().__init__(data, auto_id="c-%s")
        self.tiers = {tier.pk: tier for tier in calibrations.tiers_of(sample.project)}
        self.fields["tier"].choices = [(pk, tier.name) for pk, tier in self.tiers.items()]  # type: ignore[attr-defined]


@require_http_methods(["GET", "POST"])
def calibration_list(request: HttpRequest, slug: str) -> HttpResponse:
    """All calibrations, and the form that starts one."""
    membership = member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = StartForm(project, request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        try:
            run = start_run(project, RunKind.CALIBRATE, form.cleaned_data, request.user)
        except RunIsActive as active:
            run = active.run
        return redirect("run", slug, run.pk)
    samples = list(project.samples.filter(kind=SampleKind.CALIBRATION).select_related("run")[:MOST_LISTED])
    calibrations.see_what_holds(project, samples)
    context = shell(membership, "quality", tab="calibrations", form=form, samples=samples)
    return render(request, "review/calibrations.html", context, status=422 if form.is_bound else 200)


@require_GET
def calibration(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """The curves of a calibration, and what a wanted precision would do: `?wanted=`, `?tier=`."""
    membership = member(request, slug, needs=Role.MANAGER)
    sample = _sample(membership, pk)
    form = ChoiceForm(sample, request.GET) if "wanted" in request.GET else ChoiceForm(sample)
    return _page(request, membership, sample, form)


@posts("project")
def calibration_apply(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Lets a tier begin where the wanted precision does."""
    membership = member(request, slug, needs=Role.MANAGER)
    project, sample = membership.project, _sample(membership, pk)
    form = ChoiceForm(sample, request.POST)
    if not form.is_valid():
        return _page(request, membership, sample, form, status=422)
    said = form.cleaned_data
    tier, former = form.tiers[said["tier"]], calibrations.tiers_of(project)
    try:
        own = calibrations.cohort_of(sample.run)
        point, change = calibrations.apply(
            sample, tier, said["wanted"] / 100, user_of(request),
            lenient=said["lenient"], sure=said["sure"], shown=said["shown"],
        )  # fmt: skip
    except UserError as error:
        form.add_error(None, str(error))
        return _page(request, membership, sample, form, status=422)
    address = f"{reverse('settings_tiers', args=[slug])}?basis={Basis.PROBABILITY}"
    run = change if isinstance(change, Run) else None
    if own is None:
        offer_undo(request, project, "settings_tiers", address, former_values(project, Basis.PROBABILITY, former), run)
    else:
        of_cohort = address_of(project, name_of(Cohort.objects.get(pk=own.id)))
        offer_undo(request, project, "settings_tiers", of_cohort, former_bounds(own.bounds), run)
    values = {"tier": tier.name, "bound": percent(point.bound)}
    if run is not None:
        begins = _("“%(tier)s” begins at %(bound)s as soon as run %(run)s has finished.")
        values["run"] = str(run.pk)
    elif own is None:
        begins = _("“%(tier)s” begins at %(bound)s from now on.")
    else:
        begins = _("“%(tier)s” begins at %(bound)s for links %(where)s from now on.")
        values["where"] = Cohort.objects.select_related("category").get(pk=own.id).said
    messages.success(request, begins % values)
    return HttpResponseRedirect(address)


def _sample(membership: Membership, pk: int) -> Sample:
    samples = Sample.objects.filter(project=membership.project, kind=SampleKind.CALIBRATION)
    return get_object_or_404(samples.select_related("project", "run"), pk=pk)


def _page(
    request: HttpRequest, membership: Membership, sample: Sample, form: ChoiceForm, status: int = 200
) -> HttpResponse:
    is_asked = form.is_bound and form.is_valid()
    said = form.cleaned_data if is_asked else {"lenient": False, "sure": False}
    points = calibrations.points_of(sample, lenient=said["lenient"])
    found = bound_for(points, said["wanted"] / 100, sure=said["sure"]) if is_asked else None
    effect = _effect(membership.project, sample, form.tiers[said["tier"]], found.bound) if found else None
    order = _order(sample, form.tiers, effect) if effect else []
    calibrations.see_what_holds(membership.project, [sample])
    context = shell(
        membership,
        "quality",
        tab="calibrations",
        sample=sample,
        form=form,
        is_asked=is_asked,
        is_question=request.method == "GET",
        points=points,
        chosen=found,
        rescaled_by=calibrations.rescaled_by(sample),
        again=StartForm(membership.project, _as_asked(sample)),
        drawing=drawing(points, found),
        effect=effect,
        order=order,
        cohort=_cohort(sample),
        is_in_use=membership.project.tier_basis == Basis.PROBABILITY,
        people=calibrations.labelled_by(sample),
        left=calibrations.left_to_label(sample),
        kappa=agreement_of(SampleLink.objects.filter(sample=sample)),
    )
    return render(request, "review/calibration.html", context, status=status)


def _as_asked(sample: Sample) -> QueryDict:
    """How the sample was drawn, as the form says it."""
    asked = QueryDict(mutable=True)
    asked.update({name: str(value) for name, value in sample.run.params.items() if value and name != "seed"})
    return asked


def _effect(project: Project, sample: Sample, tier: Tier, bound: float) -> Effect | None:
    """What the bound would do; None where the links have no bounds of their own any more, which applying it says."""
    try:
        return calibrations.effect_of(project, tier, bound, calibrations.cohort_of(sample.run))
    except UserError:
        return None


def _order(sample: Sample, tiers: dict[int, Tier], effect: Effect) -> list[str]:
    """The names of the tiers from the top, where the bound would change their order; else empty."""
    own = calibrations.cohort_of(sample.run)
    bounds = dict(own.bounds) if own else {pk: tier.lower_bound for pk, tier in tiers.items()}
    now = [tiers[pk].name for pk in sorted(bounds, key=lambda pk: -bounds[pk]) if pk in tiers]
    then = [tier.name for tier in effect.tiers if tier.name in now]
    return then if then != now else []


def _cohort(sample: Sample) -> Cohort | None:
    """The cohort whose links were drawn, while there is one."""
    asked = sample.run.params.get("cohort")
    return Cohort.objects.select_related("category").filter(pk=asked).first() if asked else None


calibration_urls = [
    path("quality/calibrations/", calibration_list, name="calibrations"),
    path("quality/calibrations/<int:pk>/", calibration, name="calibration"),
    path("quality/calibrations/<int:pk>/apply/", calibration_apply, name="calibration_apply"),
]
