"""A project's settings, a tab each: general, vectors, tiers, ranking, sensitive pages, exclusions,
page roles, members, log. Managers only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from linker import audit
from linker.embedding import vector_sets
from linker.embedding.text import RECIPES
from linker.engine.patterns import PatternError
from linker.engine.roles.policy import LABELS as PAGE_ROLES
from linker.engine.roles.policy import USUAL, PageRole
from linker.errors import UserError
from linker.models import (
    Basis,
    ChangeKind,
    ExclusionRule,
    Membership,
    Role,
    RoleRule,
    RunKind,
    SensitiveRule,
    SensitiveState,
)
from linker.models.policy import Sensitivity
from linker.pages.languages import model_advice
from linker.pages.roles import role_counts
from linker.projects import access, members, overview, policies
from linker.projects.create import save_project
from linker.query_strings import unknown_fields
from linker.reports import tier_notice
from linker.reports.ranking import newest_match
from linker.runs import sensitivity_checks
from linker.runs.lifecycle import RunIsActive, start_run
from linker.web.forms import (
    ExclusionForm,
    FormulaForm,
    LeaveOutForm,
    MemberForm,
    ProjectForm,
    RoleForm,
    RoleLinksForm,
    RoleRuleForm,
    SensitiveForm,
    tier_formset,
)
from linker.web.page_context import shell
from linker.wording import count

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse

TABS = (
    ("settings", "General"),
    ("settings_vectors", "Vectors"),
    ("settings_tiers", "Tiers"),
    ("settings_ranking", "Ranking"),
    ("settings_sensitive", "Sensitive pages"),
    ("settings_exclusions", "Exclusions"),
    ("settings_roles", "Page roles"),
    ("settings_members", "Members"),
    ("settings_log", "Log"),
)
FORM = ["GET", "HEAD", "POST"]
FORM_NAMES = ("form", "formset", "leave_out", "links_form")  # as the templates call them
# What each basis means to who moves a bound.
BASES = {
    Basis.PROBABILITY: "How likely an editor is to approve the suggestion: of a hundred suggestions at 0.5, about "
    "fifty. Runs that rank by similarity have no probability.",
    Basis.QUANTILE: "The position within the run, for any ranking: 0.9 is where the best tenth begins. Every run "
    "fills the tiers in the same proportions, even a weak one.",
    Basis.COSINE: "How close the two pages are in meaning, between \N{MINUS SIGN}1 and 1. Values can be compared "
    "between runs of one embedding model, but not between models.",
}


def _page(request: HttpRequest, membership: Membership, tab: str, **context: Any) -> HttpResponse:
    """A tab; with 422 where one of its forms was sent and holds a mistake."""
    shared = shell(membership, "settings", tab=tab, tabs=TABS, **context)
    sent = [form for name in FORM_NAMES if (form := context.get(name)) is not None and form.is_bound]
    status = 200 if all(form.is_valid() for form in sent) else 422
    return render(request, f"linker/{tab}.html", shared, status=status)


def _data(request: HttpRequest) -> Any:
    return request.POST if request.method == "POST" else None


@require_http_methods(FORM)
def general(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = ProjectForm(_data(request), instance=membership.project)
    if form.is_valid():
        save_project(form.save(commit=False), request.user, form.changed_data)
        messages.success(request, "Saved.")
        before, now = (
            urlsplit(address).netloc.lower() for address in (form.initial["base_url"], form.instance.base_url)
        )
        if before != now and form.instance.pages.exists():
            messages.warning(
                request,
                f"The project’s pages belong to {before}. Imports for {now} will not find them again and will add "
                "other pages. If this was a mistake, restore the old address before you import.",
            )
        if ProjectForm.EMBEDDING_FIELDS & set(form.changed_data):
            messages.warning(
                request,
                "This takes effect once the pages have been embedded and matched again. Until then, the suggestions "
                "stay as they are. No decision is lost.",
            )
        return redirect("settings", slug)
    membership.project.refresh_from_db()
    return _page(request, membership, "settings", form=form, advice=model_advice(membership.project))


@require_safe
def vector_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The sets of vectors there are, and what the settings ask for."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    sets = vector_sets.vector_sets(project)
    return _page(
        request,
        membership,
        "settings_vectors",
        sets=sets,
        recipe=RECIPES[project.text_recipe],
        advice=model_advice(project),
    )


@access.posts("settings_vectors")
def vectors_drop(request: HttpRequest, slug: str, model_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        dropped = vector_sets.drop_vectors(membership.project, model_id, request.user)
    except UserError as error:
        messages.error(request, str(error))
    else:
        pages = f"{dropped.pages:,} page{'' if dropped.pages == 1 else 's'}"
        messages.success(request, f"Dropped the vectors of {pages}: {dropped.model}.")
    return redirect("settings_vectors", slug)


@require_http_methods(FORM)
def tiers(request: HttpRequest, slug: str) -> HttpResponse:
    """The bounds of one basis, `?basis=`; those in use unless it says otherwise."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    asked = request.GET.get("basis", "")
    basis = Basis(asked if asked in Basis.values else project.tier_basis)
    ignored = unknown_fields(request.GET, {"basis"})
    formset = tier_formset(project, basis, _data(request))
    if request.method == "POST" and formset.is_valid():
        formset.save(commit=False)
        changed = [*(tier for tier, _ in formset.changed_objects), *formset.new_objects]
        use = basis if "use" in request.POST else None
        change = policies.change_tiers(project, changed, formset.deleted_objects, request.user, basis=basis, use=use)
        messages.success(request, _moves(change))
        return redirect(f"{reverse('settings_tiers', args=[slug])}?basis={basis}")
    newest = newest_match(project)
    held = overview.tier_figures(project, newest)
    for form in formset.forms:
        setattr(form, "counts", held.get(form.instance.pk))  # noqa: B010 (a field of the template)
    in_use = {tier.basis for tier in overview.tiers_in_use(project)}
    return _page(
        request,
        membership,
        "settings_tiers",
        formset=formset,
        below=held.get(None),
        newest=newest,
        basis=basis,
        bases=[(one, Basis(one).label, one in in_use) for one in BASES],
        meaning=BASES[basis],
        is_in_use=basis in in_use,
        is_chosen=basis == project.tier_basis,
        without_probability=project.tier_basis == Basis.PROBABILITY and Basis.COSINE in in_use,
        notice=tier_notice.tier_notice(project),
        ignored=ignored if asked in ("", *Basis.values) else ("basis", *ignored),
    )


@require_http_methods(FORM)
def ranking(request: HttpRequest, slug: str) -> HttpResponse:
    """The weights of the stated formula."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    if request.method == "POST" and "reset" in request.POST:
        policies.set_formula_weights(membership.project, {}, request.user)
        messages.success(request, "The default weights apply again from the next match run.")
        return redirect("settings_ranking", slug)
    form = FormulaForm(_data(request), chosen=membership.project.formula_weights)
    if form.is_valid():
        policies.set_formula_weights(membership.project, form.weights(), request.user)
        messages.success(request, "Saved. The weights apply from the next match run by the formula.")
        return redirect("settings_ranking", slug)
    return _page(request, membership, "settings_ranking", form=form)


def _moves(change: policies.TierChange) -> str:
    """What saving did to the open suggestions, in a sentence."""
    names = [name for name in {**change.after, **change.before} if name]
    moved = [
        f"{name} {change.before.get(name, 0):,} \N{RIGHTWARDS ARROW} {change.after.get(name, 0):,}"
        for name in names
        if change.before.get(name, 0) != change.after.get(name, 0)
    ]
    return f"Saved. Suggestions moved: {', '.join(moved)}." if moved else "Saved. No suggestion changed its tier."


@require_http_methods(FORM)
def sensitive(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = SensitiveForm(_data(request), project=membership.project)
    if form.is_valid():
        rule = form.save(commit=False)
        known = policies.same_rule(rule)
        marked = policies.add_sensitive(rule, request.user)
        if known is not None and known.state == SensitiveState.CONFIRMED:
            messages.warning(request, _is_there(known, form.cleaned_data["word"]))
        elif known is not None:
            was = "was dismissed before" if known.state == SensitiveState.DISMISSED else "was one of the rules to check"
            messages.success(request, f"{known.subject} {was} and is now confirmed. {_need_a_person(marked)}")
        else:
            messages.success(request, f"Saved. {_need_a_person(marked)}")
        return redirect("settings_sensitive", slug)
    return _sensitive_page(request, membership, form)


def _sensitive_page(
    request: HttpRequest, membership: Membership, form: SensitiveForm, leave_out: LeaveOutForm | None = None
) -> HttpResponse:
    project = membership.project
    return _page(
        request,
        membership,
        "settings_sensitive",
        form=form,
        leave_out=leave_out or LeaveOutForm(prefix="out"),
        groups=overview.sensitive_groups(project),
        decided=overview.sensitive_decided(project),
        was_looked=sensitivity_checks.was_looked_through(project),
    )


def _is_there(rule: SensitiveRule, word: str) -> str:
    """Of a word that a confirmed rule has already; forms that the rule lacks are not added to it."""
    said = f"{rule.subject} is already a confirmed rule ({rule.get_kind_display()}). Nothing was changed."
    if "," not in word or word == rule.word:
        return said
    if rule.proposed:
        return f"{said} Add its other forms as a separate rule."
    return f"{said} To change its forms, remove the rule and add it again."


def _need_a_person(marked: int) -> str:
    return f"{count(marked, 'suggestion needs', 'suggestions need')} human review now."


@access.posts("settings_sensitive")
def sensitive_decide(request: HttpRequest, slug: str) -> HttpResponse:
    """Confirms or dismisses: the rule of the button, the rules ticked, or all of a kind that nobody has decided on.

    "All" are those that the page knew of: an import may have proposed others since, which nobody has seen.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    verb, _, about = request.POST.get("do", "").partition(":")
    state = {"confirm": SensitiveState.CONFIRMED, "dismiss": SensitiveState.DISMISSED}.get(verb)
    if state is None:
        return HttpResponseBadRequest("Choose an action: confirm or dismiss.")
    later = 0
    if about in Sensitivity.values:
        newest = request.POST.get("newest", "")
        if not _is_id(newest):
            messages.warning(request, "The page was out of date. Nothing was changed. Check the rules again.")
            return redirect("settings_sensitive", slug)
        open_rules = [rule.pk for rule in overview.sensitive_to_check(membership.project).filter(kind=about)]
        ids = [pk for pk in open_rules if pk <= int(newest)]
        later = len(open_rules) - len(ids)
        if not ids:
            messages.warning(request, f"These rules have already been decided. {_came_later(later)}".strip())
            return redirect("settings_sensitive", slug)
    else:
        ids = [int(one) for one in ([about] if about else request.POST.getlist("rule")) if _is_id(one)]
    if not ids:
        messages.warning(request, "No rule was selected.")
        return redirect("settings_sensitive", slug)
    change = policies.decide_sensitive(membership.project, ids, state, request.user)
    if not change.found:
        gone = "That rule" if len(ids) == 1 else "Those rules"
        messages.warning(request, f"{gone} no longer {'exists' if len(ids) == 1 else 'exist'}. Nothing was changed.")
    elif not change.decided:
        was = "That rule was" if len(ids) == 1 else "Those rules were"
        messages.warning(request, f"{was} {state.label.lower()} already.")
    else:
        rules = count(change.decided, "rule", "rules")
        messages.success(request, f"{state.label}: {rules}. {_need_a_person(change.marked)}")
    if later:
        messages.warning(request, _came_later(later))
    return redirect("settings_sensitive", slug)


def _came_later(rules: int) -> str:
    if not rules:
        return ""
    came = count(rules, "rule has been proposed", "rules have been proposed")
    return f"{came} since you opened the page and still {'needs' if rules == 1 else 'need'} checking."


def _is_id(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19


@access.posts("settings_sensitive")
def sensitive_leave_out(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = LeaveOutForm(request.POST, prefix="out")
    if not form.is_valid():
        return _sensitive_page(request, membership, SensitiveForm(project=membership.project), form)
    word = form.cleaned_data["word"]
    marked = policies.leave_out_word(membership.project, form.cleaned_data["kind"], word, request.user)
    messages.success(request, f"“{word}” is ignored. {_need_a_person(marked)}")
    return redirect("settings_sensitive", slug)


@access.posts("settings_sensitive")
def sensitive_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a look through all pages."""
    return _start_or_show(request, slug, RunKind.SENSITIVE)


def _start_or_show(request: HttpRequest, slug: str, kind: RunKind) -> HttpResponse:
    """The page of a new run of a manager's, or of the one of its kind that is under way."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        run = start_run(membership.project, kind, {}, request.user)
    except RunIsActive as active:
        run = active.run
    return redirect("run", slug, run.pk)


@access.posts("settings_sensitive")
def sensitive_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    marked = policies.remove_sensitive(membership.project, rule_id, request.user)
    if marked is None:
        messages.warning(request, "That rule had already been removed.")
    else:
        messages.success(request, f"Removed. {_need_a_person(marked)}")
    return redirect("settings_sensitive", slug)


@require_http_methods(FORM)
def exclusions(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = ExclusionForm(_data(request), project=project)
    preview = None
    if form.is_valid():
        if "check" not in request.POST:
            policies.add_exclusion(form.save(commit=False), request.user)
            messages.success(request, "Saved. This applies from the next match run.")
            return redirect("settings_exclusions", slug)
        preview = policies.pattern_matches(project, [form.cleaned_data["pattern"]])[0]
    rules = list(ExclusionRule.objects.filter(project=project).order_by("pk"))
    found = policies.pattern_matches(project, [rule.pattern for rule in rules])
    return _page(
        request,
        membership,
        "settings_exclusions",
        form=form,
        rules=list(zip(rules, found, strict=True)),
        matches=preview,
    )


@require_safe
def exclusion_preview(request: HttpRequest, slug: str) -> HttpResponse:
    """What the pattern in the query would find."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    pattern = request.GET.get("pattern", "")[:300]
    context = shell(membership, "settings")
    if pattern:
        try:
            context["matches"] = policies.pattern_matches(membership.project, [pattern])[0]
        except PatternError as error:
            context["fault"] = str(error)
    return render(request, "linker/_matches.html", context)


@access.posts("settings_exclusions")
def exclusion_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if policies.remove_exclusion(membership.project, rule_id, request.user):
        messages.success(request, "Removed. The rule no longer applies from the next match run.")
    else:
        messages.warning(request, "That rule had already been removed.")
    return redirect("settings_exclusions", slug)


@require_http_methods(FORM)
def roles(request: HttpRequest, slug: str) -> HttpResponse:
    """What pages are for: how many have which role, rules, and what each role gives and receives."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    form = RoleRuleForm(_data(request), project=project)
    preview = None
    if form.is_valid():
        if "check" not in request.POST:
            run = policies.add_role_rule(form.save(commit=False), request.user)
            if run is not None:
                messages.success(request, "Saved. A run that assigns the roles to the pages has started.")
                return redirect("run", slug, run.pk)
            messages.success(request, "Saved. The pages have their new roles, which apply from the next match run.")
            return redirect("settings_roles", slug)
        preview = policies.pattern_matches(project, [form.cleaned_data["pattern"]])[0]
    return _roles_page(request, membership, form, RoleLinksForm(changed=project.role_links), matches=preview)


def _roles_page(
    request: HttpRequest, membership: Membership, form: RoleRuleForm, links_form: RoleLinksForm, **context: Any
) -> HttpResponse:
    project = membership.project
    rules = list(RoleRule.objects.filter(project=project).order_by("pk"))
    found = policies.pattern_matches(project, [rule.pattern for rule in rules])
    return _page(
        request,
        membership,
        "settings_roles",
        form=form,
        links_form=links_form,
        rules=list(zip(rules, found, strict=True)),
        counts=[(role, PAGE_ROLES[PageRole(role)], pages) for role, pages in role_counts(project).items()],
        **context,
    )


@access.posts("settings_roles")
def role_links(request: HttpRequest, slug: str) -> HttpResponse:
    """Saves what pages of each role give and receive."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    project = membership.project
    if "reset" in request.POST:
        policies.set_role_links(project, USUAL, request.user)
        messages.success(request, "The default settings apply again from the next match run.")
        return redirect("settings_roles", slug)
    links_form = RoleLinksForm(request.POST, changed=project.role_links)
    if not links_form.is_valid():
        return _roles_page(request, membership, RoleRuleForm(project=project), links_form)
    policies.set_role_links(project, links_form.chosen(), request.user)
    messages.success(request, "Saved. This applies from the next match run.")
    return redirect("settings_roles", slug)


@access.posts("settings_roles")
def role_rule_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    if policies.remove_role_rule(membership.project, rule_id, request.user):
        messages.success(request, "Removed. The rule no longer applies from the next match run.")
    else:
        messages.warning(request, "That rule had already been removed.")
    return redirect("settings_roles", slug)


@access.posts("settings_roles")
def roles_find(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a run that finds all roles anew."""
    return _start_or_show(request, slug, RunKind.ROLES)


@require_http_methods(FORM)
def member_list(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = MemberForm(_data(request))
    if form.is_valid():
        try:
            added = members.add_member(
                membership.project, form.cleaned_data["username"], form.cleaned_data["role"], by=request.user
            )
        except UserError as error:
            form.add_error("username", str(error))
        else:
            messages.success(request, f"{form.cleaned_data['username']} is {_a_role(added)} now.")
            return redirect("settings_members", slug)
    rows = Membership.objects.filter(project=membership.project).select_related("user").order_by("user__username")
    return _page(request, membership, "settings_members", form=form, rows=rows, roles=Role.choices)


def _a_role(membership: Membership) -> str:
    return f"{'an' if membership.role == Role.EDITOR else 'a'} {membership.get_role_display().lower()}"


@access.posts("settings_members")
def member_change(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Choose one of the roles.")
        return redirect("settings_members", slug)
    try:
        changed = members.change_role(
            membership.project, membership_id, Role(form.cleaned_data["role"]), by=request.user
        )
    except UserError as error:
        messages.error(request, str(error))
        return redirect("settings_members", slug)
    if changed is None:
        messages.warning(request, "That member had already been removed.")
        return redirect("settings_members", slug)
    messages.success(request, f"{changed.user} is {_a_role(changed)} now.")
    if changed.pk == membership.pk and changed.role != Role.MANAGER:
        return redirect("project", slug)
    return redirect("settings_members", slug)


@access.posts("settings_members")
def member_remove(request: HttpRequest, slug: str, membership_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    try:
        removed = members.remove_member(membership.project, membership_id, by=request.user)
    except UserError as error:
        messages.error(request, str(error))
        return redirect("settings_members", slug)
    if removed is None:
        messages.warning(request, "That member had already been removed.")
        return redirect("settings_members", slug)
    messages.success(request, f"{removed.user} is no longer a member.")
    if removed.pk == membership.pk:
        return redirect("projects")
    return redirect("settings_members", slug)


LOG_PAGE = 50


@require_safe
def log(request: HttpRequest, slug: str) -> HttpResponse:
    """The log of changes, newest first, of one kind where `?kind=` says so; older ones from `?before=` on."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    kind, before = request.GET.get("kind", ""), request.GET.get("before", "")
    ignored = unknown_fields(request.GET, {"kind", "before"})
    if kind not in ("", *ChangeKind.values):
        kind, ignored = "", ("kind", *ignored)
    rows = audit.changes(membership.project, kind)
    if _is_id(before):
        rows = rows.filter(pk__lt=int(before))
    found = list(rows[: LOG_PAGE + 1])
    return _page(
        request,
        membership,
        "settings_log",
        changes=found[:LOG_PAGE],
        older=found[LOG_PAGE - 1].pk if len(found) > LOG_PAGE else None,
        is_first=not before,
        kind=kind,
        kinds=ChangeKind.choices,
        ignored=ignored,
    )
