"""What makes pages sensitive: rules to check, confirmed and dismissed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponseBadRequest
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from linker.models import Membership, Role, Run, SensitiveRule, SensitiveState
from linker.models.policy import Sensitivity
from linker.projects import access, overview
from linker.projects.policies.sensitive import (
    add_sensitive,
    decide_sensitive,
    leave_out_word,
    remove_sensitive,
    same_rule,
)
from linker.projects.rule_preview import Touched, newly_sensitive
from linker.query_strings import is_id
from linker.runs import sensitivity_checks
from linker.web.forms.sensitive import LeaveOutForm, SensitiveForm
from linker.web.views.settings.tab import FORM, render_tab, sent
from linker.web.views.settings.undo import offer_undo
from linker.wording import number, within

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.http import HttpRequest, HttpResponse

    from linker.models import Project

TAB = "settings_sensitive"
MOST_TAKEN_BACK = 500  # rules: a form has no more fields than a thousand
RULE_FIELDS = ("kind", "word", "category", "url_pattern")  # that a manager's rule is made of


@require_http_methods(FORM)
def sensitive(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = SensitiveForm(sent(request), project=membership.project)
    if form.is_valid() and "check" in request.POST:
        return _sensitive_page(request, membership, form, touched=newly_sensitive(form.save(commit=False)))
    if form.is_valid():
        rule = form.save(commit=False)
        known = same_rule(rule)
        outcome = add_sensitive(rule, request.user)
        if known is not None and known.state == SensitiveState.CONFIRMED:
            messages.warning(request, _is_there(known, form.cleaned_data["word"]))
        elif known is not None:
            dismissed = _("%(rule)s was dismissed before and is now confirmed.")
            proposed = _("%(rule)s was one of the rules to check and is now confirmed.")
            said = (dismissed if known.state == SensitiveState.DISMISSED else proposed) % {"rule": known.subject}
            messages.success(request, f"{said} {_what_follows(outcome)}")
        else:
            offer_undo(request, membership.project, TAB, reverse("sensitive_remove", args=[slug, rule.pk]), [])
            messages.success(request, f"{_('Saved.')} {_what_follows(outcome)}")
        return redirect("settings_sensitive", slug)
    return _sensitive_page(request, membership, form)


def _sensitive_page(
    request: HttpRequest,
    membership: Membership,
    form: SensitiveForm,
    leave_out: LeaveOutForm | None = None,
    touched: Touched | None = None,
) -> HttpResponse:
    project = membership.project
    return render_tab(
        request,
        membership,
        "settings_sensitive",
        form=form,
        touched=touched,
        leave_out=leave_out or LeaveOutForm(prefix="out"),
        groups=overview.sensitive_groups(project),
        decided=overview.sensitive_decided(project),
        was_looked=sensitivity_checks.was_looked_through(project),
        due=sensitivity_checks.rules_due(project),
    )


def _is_there(rule: SensitiveRule, word: str) -> str:
    """Of a word that a confirmed rule has already; forms that the rule lacks are not added to it."""
    said = _("%(rule)s is already a confirmed rule (%(kind)s). Nothing was changed.") % {
        "rule": rule.subject,
        "kind": rule.get_kind_display(),
    }
    if "," not in word or word == rule.word:
        return said
    if rule.proposed:
        return f"{said} {_('Add its other forms as a separate rule.')}"
    return f"{said} {_('To change its forms, remove the rule and add it again.')}"


def _what_follows(outcome: int | Run) -> str:
    """How many suggestions need a person now, or that a run marks them."""
    if isinstance(outcome, Run):
        return _("A run is applying this to the suggestions.")
    return ngettext(
        "%(number)s suggestion needs human review now.", "%(number)s suggestions need human review now.", outcome
    ) % {"number": number(outcome)}


@access.posts("settings_sensitive")
def sensitive_decide(request: HttpRequest, slug: str) -> HttpResponse:
    """Confirms or dismisses: the rule of the button, the rules ticked, or all undecided ones of a kind.

    "All" are those that the page knew of: an import may have proposed others since, which have not been seen.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    verb, about = request.POST.get("do", "").partition(":")[::2]
    state = {"confirm": SensitiveState.CONFIRMED, "dismiss": SensitiveState.DISMISSED}.get(verb)
    if state is None:
        return HttpResponseBadRequest(_("Choose an action: confirm or dismiss."))
    later = 0
    if about in Sensitivity.values:
        newest = request.POST.get("newest", "")
        if not is_id(newest):
            messages.warning(request, _("The page was out of date. Nothing was changed. Check the rules again."))
            return redirect("settings_sensitive", slug)
        open_rules = [rule.pk for rule in overview.sensitive_to_check(membership.project).filter(kind=about)]
        ids = [pk for pk in open_rules if pk <= int(newest)]
        later = len(open_rules) - len(ids)
        if not ids:
            messages.warning(request, f"{_('These rules have already been decided.')} {_came_later(later)}".strip())
            return redirect("settings_sensitive", slug)
    else:
        ids = [int(one) for one in ([about] if about else request.POST.getlist("rule")) if is_id(one)]
    if not ids:
        messages.warning(request, _("No rule was selected."))
        return redirect("settings_sensitive", slug)
    former = dict(SensitiveRule.objects.filter(project=membership.project, pk__in=ids).values_list("pk", "state"))
    change = decide_sensitive(membership.project, ids, state, request.user)
    if not change.found:
        gone = ngettext(
            "That rule no longer exists. Nothing was changed.",
            "Those rules no longer exist. Nothing was changed.",
            len(ids),
        )
        messages.warning(request, gone)
    elif not change.decided:
        was = ngettext("That rule was %(state)s already.", "Those rules were %(state)s already.", len(ids))
        messages.warning(request, was % {"state": within(state.label)})
    else:
        rules = ngettext("%(number)s rule", "%(number)s rules", change.decided) % {"number": number(change.decided)}
        messages.success(request, f"{state.label}: {rules}. {_what_follows(change.outcome)}")
        _offer_to_decide_back(request, membership.project, state, former)
    if later:
        messages.warning(request, _came_later(later))
    return redirect("settings_sensitive", slug)


def _offer_to_decide_back(
    request: HttpRequest, project: Project, state: SensitiveState, former: Mapping[int, str]
) -> None:
    """Offers to undo what the decision changed; `former` are the states of the rules by id. A proposal counts as long
    as it is not dismissed, so that confirming one changes nothing, and undoes its dismissal."""
    dismissed = SensitiveState.DISMISSED
    turned = [pk for pk, was in former.items() if was != state and dismissed in (was, state)]
    if 0 < len(turned) <= MOST_TAKEN_BACK:
        verb = "confirm" if state == dismissed else "dismiss"
        fields = [("do", verb), *(("rule", str(pk)) for pk in turned)]
        offer_undo(request, project, TAB, reverse("sensitive_decide", args=[project.slug]), fields)


def _came_later(rules: int) -> str:
    if not rules:
        return ""
    return ngettext(
        "%(number)s rule has been proposed since you opened the page and still needs checking.",
        "%(number)s rules have been proposed since you opened the page and still need checking.",
        rules,
    ) % {"number": number(rules)}


@access.posts("settings_sensitive")
def sensitive_leave_out(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = LeaveOutForm(request.POST, prefix="out")
    if not form.is_valid():
        return _sensitive_page(request, membership, SensitiveForm(project=membership.project), form)
    word = form.cleaned_data["word"]
    outcome = leave_out_word(membership.project, form.cleaned_data["kind"], word, request.user)
    messages.success(request, f"{_('“%(word)s” is ignored.') % {'word': word}} {_what_follows(outcome)}")
    return redirect("settings_sensitive", slug)


@access.posts("settings_sensitive")
def sensitive_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a look through all pages, or has it follow the run for changed rules that is under way."""
    membership = access.member(request, slug, needs=Role.MANAGER)
    run = sensitivity_checks.scan_all(membership.project, request.user)
    if sensitivity_checks.THEN_ALL in run.params:
        messages.info(
            request, _("A run is applying changed rules. The scan of all pages starts as soon as it has ended.")
        )
    return redirect("run", slug, run.pk)


@access.posts("settings_sensitive")
def sensitive_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    former = SensitiveRule.objects.filter(project=membership.project, pk=rule_id, proposed=False).first()
    outcome = remove_sensitive(membership.project, rule_id, request.user)
    if outcome is None:
        messages.warning(request, _("That rule had already been removed."))
    else:
        if former is not None:
            fields = [(name, str(former.serializable_value(name) or "")) for name in RULE_FIELDS]
            offer_undo(request, membership.project, TAB, reverse("settings_sensitive", args=[slug]), fields)
        messages.success(request, f"{_('Removed.')} {_what_follows(outcome)}")
    return redirect("settings_sensitive", slug)
