"""Small words of the queue's templates."""

from __future__ import annotations

import dataclasses
from typing import Any
from urllib.parse import unquote, urlsplit

from django import template

from linker.models import CandidateEdge
from review.queue.cards import percent
from review.queue.counts import AtLeast
from review.queue.filters import QueueFilter

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
def figure(edge: CandidateEdge) -> str:
    """The number a link is judged by: its probability, or else its score."""
    return percent(edge.probability) if edge.probability is not None else f"{edge.score:.3f}"


@register.filter
def counted(number: int | str) -> str:
    """A number with commas, and with a plus where counting stopped; nothing where a page has no counts."""
    if isinstance(number, str):
        return number
    return f"{number:,}+" if isinstance(number, AtLeast) else f"{number:,}"


@register.simple_tag
def queue_query(chosen: QueueFilter, **changes: Any) -> str:
    """The query string of the filter with some fields changed."""
    return dataclasses.replace(chosen, **changes).to_query()


@register.filter
def of(words: dict[int, str], key: int) -> str:
    """The entry of a dictionary, or nothing; also where there is no dictionary."""
    return words.get(key, "") if words else ""
