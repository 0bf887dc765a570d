"""Small words of the queue's templates."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date
from typing import Any
from urllib.parse import unquote, urlsplit

from django import template
from django.contrib.auth.models import User
from django.utils.safestring import SafeString

from linker import wording
from linker.models import CandidateEdge, Membership, Page, Project, placements
from review.link_places import where_of
from review.live.funnel import lead_nowhere
from review.models import Comment, Decision, Judgement, Reason, SecondReading, Where
from review.quality import inbox
from review.queue import opinions
from review.queue.agreement import answer_in_words
from review.queue.card_words import GOES, name_of, percent
from review.queue.filters import QueueFilter
from review.queue.notes import note_of
from review.queue.page_dates import dates_in_words
from review.releases.pages_back import is_page_back
from review.web import release_words

register = template.Library()


@register.filter
def address(url: str) -> str:
    """The address without its host, readable: %-escapes of UTF-8 are undone."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    shown = unquote(parts.path or "/", errors="replace")
    return f"{shown}?{unquote(parts.query, errors='replace')}" if parts.query else shown


@register.filter
def page_name(page: Page) -> str:
    """What a reader would call the page; without a title its address."""
    return name_of(page)


@register.filter
def reason_label(judgement: Judgement) -> str:
    """Why a judge thinks badly of a link."""
    return str(Reason(judgement.reason).label) if judgement.reason in Reason.values else judgement.reason


@register.simple_tag
def stands(edge: CandidateEdge, project: Project) -> str:
    """Where a link stands."""
    return str(placements.stands(project, edge).label)


@register.filter
def goes(where: str) -> str:
    """Where a link goes, in the middle of a sentence."""
    return str(GOES[Where(where)])


@register.filter
def place(edge: CandidateEdge) -> str:
    """The same of a link as it is."""
    return goes(where_of(edge))


@register.filter
def dates(page: Page) -> list[str]:
    """Of when the page is, as far as that is known."""
    return dates_in_words(page)


register.filter(note_of)


@register.filter
def figure(edge: CandidateEdge) -> str:
    """The number a link is judged by: its probability, or else its score."""
    return percent(edge.probability) if edge.probability is not None else wording.decimal(edge.score, 3)


@register.filter
def answer(said: Decision | SecondReading) -> str:
    """What one of two readers answered."""
    return answer_in_words(said)


@register.filter
def with_mentions(comment: Comment) -> SafeString:
    """The text of a comment, with its mentions marked."""
    return opinions.with_mentions(comment)


@register.simple_tag
def to_do(operation: str, words_before: str, rel_before: str, words: str, rel: str, out: Any = None) -> str:
    """What is to be done with a link, and with one that is `out`."""
    return release_words.to_do(operation, (words_before, rel_before), (words, rel), out or None)


@register.simple_tag
def queue_query(chosen: QueueFilter, **changes: Any) -> str:
    """The query string of the filter with some fields changed."""
    return dataclasses.replace(chosen, **changes).to_query()


@register.simple_tag
def number_waiting(membership: Membership, user: User) -> str:
    """How many things wait for the user, for the badge of the inbox; empty where none do."""
    found = inbox.number_waiting(membership, user)
    return f"{inbox.MOST}+" if found > inbox.MOST else str(found or "")


@register.simple_tag
def dead_links(project: Project) -> int:
    """How many released links lead nowhere and wait for somebody, for the overview."""
    return lead_nowhere(project).count()


@register.filter
def of(words: Mapping[Any, str], key: Any) -> str:
    """The entry of a dictionary, or nothing; also where there is no dictionary."""
    return words.get(key, "") if words else ""


@register.filter
def group_of(chosen: QueueFilter, edge: CandidateEdge) -> int:
    """The id of what the suggestions of the edge's group have in common."""
    return chosen.group_of(edge)


@register.filter
def as_percent(share: float, places: int = 0) -> str:
    """A share in percent, such as "12%"."""
    return wording.percent(share, places)


@register.filter
def waits_for_page_back(edge: CandidateEdge) -> bool:
    """Whether the removal of a link waits because the page is back for which it was asked."""
    return is_page_back(edge)


@register.filter
def in_days(days: float) -> str:
    """How long something took, such as "2.5 days"."""
    return wording.days(days)


@register.filter
def as_day(day: str) -> date:
    """A day that a report keeps as text."""
    return date.fromisoformat(day)
