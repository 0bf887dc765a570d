"""What makes pages sensitive: rules to check, confirmed and dismissed ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import messages
from django.http import HttpResponseBadRequest
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from linker.models import Membership, Role, RunKind, SensitiveRule, SensitiveState
from linker.models.policy import Sensitivity
from linker.projects import access, overview
from linker.projects.policies.sensitive import (
    add_sensitive,
    decide_sensitive,
    leave_out_word,
    remove_sensitive,
    same_rule,
)
from linker.query_strings import is_id
from linker.runs import sensitivity_checks
from linker.web.forms.sensitive import LeaveOutForm, SensitiveForm
from linker.web.views.settings.tab import FORM, render_tab, sent, start_or_show
from linker.wording import count

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse


@require_http_methods(FORM)
def sensitive(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = SensitiveForm(sent(request), project=membership.project)
    if form.is_valid():
        rule = form.save(commit=False)
        known = same_rule(rule)
        marked = add_sensitive(rule, request.user)
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
    return render_tab(
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
    """Confirms or dismisses: the rule of the button, the rules ticked, or all undecided ones of a kind.

    "All" are those that the page knew of: an import may have proposed others since, which have not been seen.
    """
    membership = access.member(request, slug, needs=Role.MANAGER)
    verb, _, about = request.POST.get("do", "").partition(":")
    state = {"confirm": SensitiveState.CONFIRMED, "dismiss": SensitiveState.DISMISSED}.get(verb)
    if state is None:
        return HttpResponseBadRequest("Choose an action: confirm or dismiss.")
    later = 0
    if about in Sensitivity.values:
        newest = request.POST.get("newest", "")
        if not is_id(newest):
            messages.warning(request, "The page was out of date. Nothing was changed. Check the rules again.")
            return redirect("settings_sensitive", slug)
        open_rules = [rule.pk for rule in overview.sensitive_to_check(membership.project).filter(kind=about)]
        ids = [pk for pk in open_rules if pk <= int(newest)]
        later = len(open_rules) - len(ids)
        if not ids:
            messages.warning(request, f"These rules have already been decided. {_came_later(later)}".strip())
            return redirect("settings_sensitive", slug)
    else:
        ids = [int(one) for one in ([about] if about else request.POST.getlist("rule")) if is_id(one)]
    if not ids:
        messages.warning(request, "No rule was selected.")
        return redirect("settings_sensitive", slug)
    change = decide_sensitive(membership.project, ids, state, request.user)
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


@access.posts("settings_sensitive")
def sensitive_leave_out(request: HttpRequest, slug: str) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    form = LeaveOutForm(request.POST, prefix="out")
    if not form.is_valid():
        return _sensitive_page(request, membership, SensitiveForm(project=membership.project), form)
    word = form.cleaned_data["word"]
    marked = leave_out_word(membership.project, form.cleaned_data["kind"], word, request.user)
    messages.success(request, f"“{word}” is ignored. {_need_a_person(marked)}")
    return redirect("settings_sensitive", slug)


@access.posts("settings_sensitive")
def sensitive_look(request: HttpRequest, slug: str) -> HttpResponse:
    """Starts a look through all pages."""
    return start_or_show(request, slug, RunKind.SENSITIVE)


@access.posts("settings_sensitive")
def sensitive_remove(request: HttpRequest, slug: str, rule_id: int) -> HttpResponse:
    membership = access.member(request, slug, needs=Role.MANAGER)
    marked = remove_sensitive(membership.project, rule_id, request.user)
    if marked is None:
        messages.warning(request, "That rule had already been removed.")
    else:
        messages.success(request, f"Removed. {_need_a_person(marked)}")
    return redirect("settings_sensitive", slug)
