"""What the queue's pages send, and how their answers read."""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from linker.models import CandidateEdge

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.test import Client

PAGE = "/p/shop/queue/"
DECK = f"{PAGE}deck/"
UNDO = f"{PAGE}undo/"
GROUP = f"{PAGE}group/"
OPERATIONS = f"{PAGE}operations/"
HTMX = {"HX-Request": "true"}
AS_JSON = {"Accept": "application/json"}
BODY = "Warm feet\nThe day is long. Wear warm winter boots on snow. Dry them at night.\n"
EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


def decide_url(edge: CandidateEdge) -> str:
    return f"{PAGE}{edge.pk}/decide/"


def later_url(edge: CandidateEdge) -> str:
    return f"{PAGE}{edge.pk}/later/"


def form(edge: CandidateEdge, do: str = "accept", **changes: object) -> dict[str, object]:
    """What the card's form sends."""
    sent = {"do": do, "expected": edge.status, "run": edge.run_id, "shown": edge.anchor, "anchor": edge.anchor}
    return {**sent, "query": "", **changes}


def decision(edge: CandidateEdge, do: str = "accept", **changes: object) -> dict[str, object]:
    """A decision as the browser keeps it until it is saved."""
    return {"key": str(uuid4()), "kind": "decide", "edge": edge.pk, **form(edge, do), **changes}


def operation(kind: str, **fields: object) -> dict[str, object]:
    return {"key": str(uuid4()), "kind": kind, **fields}


def send(client: Client, *operations: Mapping[str, object], query: str = "") -> Any:
    """The answer to some operations in one request, as JSON."""
    body = json.dumps({"operations": operations, "query": query})
    answer = client.post(OPERATIONS, body, content_type="application/json")
    assert answer.status_code == 200, answer.content
    return answer.json()


def results(answer: Any) -> list[str]:
    return [one["result"] for one in answer["answers"]]


def readable(markup: str) -> str:
    """Markup as a person reads it."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", markup)).split())


def text(response: Any) -> str:
    """The page as a person reads it."""
    return readable(response.content.decode())


def cards(client: Client, query: str = "") -> dict[int, str]:
    """The cards of the list, by suggestion."""
    return {card["edge"]: card["card"] for card in client.get(f"{DECK}?{query}", headers=AS_JSON).json()["cards"]}


def excerpts(markup: str) -> list[str]:
    """The paragraphs of the cards as they read, under their headings, the words of the anchor within [ ]."""
    return [
        _marked(found)
        for found in re.findall(r'<blockquote class="excerpt" data-[^>]*>(.*?)</blockquote>', markup, re.S)
    ]


def _marked(markup: str) -> str:
    parts = re.findall(r"<span([^>]*)>([^<]*)</span>|<[^>]+>|([^<]+)", markup)
    read = "".join(f"[{words}]" if "is-anchor" in attributes else words + rest for attributes, words, rest in parts)
    return " ".join(html.unescape(read.replace("][", "")).split())


def status(edge: CandidateEdge) -> str:
    return CandidateEdge.objects.get(pk=edge.pk).status
