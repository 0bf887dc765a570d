"""Small filters for the project's pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django import template
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.text import slugify
from django.utils.translation import gettext as _

from linker import wording
from linker.models import CountsAs, run
from linker.pages import page_lists
from linker.pages.languages import language_name
from linker.pages.link_words import literally
from linker.reports.sentences import in_words
from linker.web.forms.change_log import form_labels, value_label
from linker.web.glossary import TERMS
from linker.web.log_sayings import NAMES, SUBJECTS, VALUES
from linker.web.stage_words import STAGES
from linker.wording import number

if TYPE_CHECKING:
    from typing import Any

    from django.template import Context

    from linker.models import Change, ExistingLink, Page, PageList, Project, Run

register = template.Library()
LONGEST = 300  # of what a rule asks for


@register.filter
def lookup(values: dict[Any, Any], key: Any) -> Any:
    """`values[key]`, or None where there is no such key."""
    return values.get(key)


@register.filter
def counted(count: int | str) -> str:
    """A number with commas, and with a plus where counting stopped; nothing where a page has no counts."""
    return count if isinstance(count, str) else number(count)


@register.filter
def signed(count: int) -> str:
    """A number that is added or taken away: "+1,200" or "−380"."""
    return ("−" if count < 0 else "+") + number(abs(count))


@register.filter
def size(count: int) -> int:
    """A number without its sign."""
    return abs(count)


@register.filter
def within(label: Any) -> str:
    """A label in the middle of a sentence."""
    return wording.within(label)


@register.filter
def on_site(url: str, project: Project) -> str:
    """The address without the start that every address of the project shares."""
    short = url.removeprefix(project.base_url)
    return short if short.startswith("/") else url


@register.filter
def as_rule(link: ExistingLink, page: Page) -> str:
    """The query that fills the form of a rule with a link of a page: for this link alone, as something of a list."""
    source, target = (page if page.pk == pk else None for pk in (link.source_id, link.target_id))
    asked = {
        "words": literally(link.anchor),
        "source_pattern": _exactly((source or link.source).url),
        "target_pattern": _exactly((target or link.target).url),
        "counts_as": CountsAs.LIST.value,
    }
    return urlencode({name: value for name, value in asked.items() if 0 < len(value) <= LONGEST})


def _exactly(url: str) -> str:
    return f"^{re.escape(url)}$"


@register.simple_tag(takes_context=True)
def term(context: Context, name: str, label: str = "") -> str:
    """A word of the trade (linker.web.glossary) with its explanation at a hover, a tap or a key; plain where the page
    has
    explained it already. Raises KeyError for a word that the glossary lacks."""
    text, label = _(TERMS[name]), label or _(name)
    explained: set[str] = context.render_context.setdefault("explained", set())  # type: ignore[assignment, arg-type]
    if name in explained:
        return label
    explained.add(name)
    return format_html(
        '<button type="button" class="term" popovertarget="term-{0}">{1}</button>'
        '<span class="term__note" id="term-{0}" popover>{2}</span>',
        slugify(name),
        label,
        text,
    )


@register.filter
def kind_label(kind: str) -> str:
    """The words for a run's kind, if the run itself is not available."""
    return run.kind_label(kind)


@register.filter
def subject_in_words(change: Change) -> str:
    """What was changed, in the reader's language."""
    return in_words(change.subject, SUBJECTS)


@register.filter
def differences(change: Change) -> list[tuple[str, str, str]]:
    """(label, before, after) of what a change changed, in the order of the labels; empty where there was nothing.

    A field is called what its form calls it, and so is each of its values.
    """
    before, after = _shown(change.kind, change.before), _shown(change.kind, change.after)
    rows = [(name, before.get(name, ""), after.get(name, "")) for name in sorted(before.keys() | after.keys())]
    return [(name, old, new) for name, old, new in rows if old != new]


def _shown(kind: str, values: dict[str, Any]) -> dict[str, str]:
    """Names and values in words, as one level: what is nested is named by both."""
    labels, found = form_labels(kind), dict[str, str]()
    for name, value in values.items():
        label = _in_words(name, labels)
        if isinstance(value, dict):
            for inner, inner_value in value.items():
                found[f"{label}: {_in_words(inner, labels)}"] = _as_text(inner_value, kind, inner)
        else:
            found[label] = _as_text(value, kind, name)
    return found


def _in_words(name: str, labels: dict[str, str]) -> str:
    if name in labels:
        return labels[name]
    words = in_words(name.replace("_", " ").strip(), NAMES)
    return words[:1].upper() + words[1:]


def _as_text(value: Any, kind: str, name: str) -> str:
    if value is None or value in ("", [], {}):
        return ""
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, list):
        return ", ".join(_as_text(one, kind, name) for one in value)
    if isinstance(value, int):
        return number(value)
    if isinstance(value, float):
        return number_format(value, use_l10n=True)
    return value_label(kind, name, value) or in_words(str(value), () if name == "reason" else VALUES.get(kind, ()))


@register.filter
def stage_in_words(stage: str) -> str:
    """What a run is doing, which it stores in English."""
    return in_words(stage, STAGES)


@register.filter
def duration(run: Run) -> str:
    """How long a run has worked so far, or worked in all; empty while it waits."""
    if run.started_at is None:
        return ""
    seconds = int(((run.finished_at or timezone.now()) - run.started_at).total_seconds())
    if seconds < 60:
        return _("%(seconds)d s") % {"seconds": seconds}
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return _("%(minutes)d min %(seconds)d s") % {"minutes": minutes, "seconds": seconds}
    hours, minutes = divmod(minutes, 60)
    return _("%(hours)d h %(minutes)d min") % {"hours": hours, "minutes": minutes}


@register.filter
def unknown_in_words(found: PageList) -> str:
    """The lines of a list of pages for which there is no page."""
    return page_lists.unknown_in_words(found)


@register.filter
def language(code: str) -> str:
    """The name of a language."""
    return language_name(code)
