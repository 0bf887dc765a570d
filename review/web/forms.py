"""What the queue's forms send. The words for the user are in the templates and in review.decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.http import QueryDict

from linker.models import EdgeStatus, Reach, Rel
from linker.query_strings import MAX_ID, is_id
from review.models import Reason, Verb, Where
from review.queue.cursor import Cursor
from review.queue.filters import QueueFilter
from review.queue.operations import Aside, Ask, Decide, Operation, Say, Undo
from review.queue.opinions import MAX_TEXT
from review.rulings import MAX_SENTENCE, Ruling, Shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from linker.models import Project

MAX_ANCHOR = 2000  # sent, not allowed: the project's own bound gives the better message


class PlaceForm(forms.Form):
    """Where in the queue the user is: the query string of the page that the form is on."""

    query = forms.CharField(required=False, max_length=2000)

    def clean_query(self) -> str:
        query = self.cleaned_data["query"].lstrip("?")
        if not query.isprintable():  # no browser leaves a line break in an address, and no header may hold one
            raise forms.ValidationError("not a query string")
        return query

    def chosen_in(self, project: Project) -> QueueFilter:
        return QueueFilter.from_query(QueryDict(self.cleaned_data["query"]), project.queue_order)


def cursor_of(query: Mapping[str, str], chosen: QueueFilter) -> Cursor | None:
    """Where the list goes on, as the query string says; None at the start."""
    return Cursor.parse(query.get("after", ""), chosen.order)


def span_of(data: Mapping[str, Any]) -> tuple[int, int] | None:
    """The characters of the donor's text that a form names by `start` and `end`."""
    start, end = data["start"], data["end"]
    return (start, end) if start is not None and end is not None and start < end else None


class DecisionForm(PlaceForm):
    """One decision on one edge. Buttons send `do`: "accept", "accept:<rel>", "anyway", "anyway:<rel>", "reject" or
    "reject:<reason>".

    `pick` is one of the alternatives offered; it counts where the text of `anchor` was left as it was shown. `warned`
    are the codes of the warnings shown, about the words `warned_of`: "anyway" accepts those words in spite of them.
    `start` and `end` are the characters of the donor's text that the anchor was picked from; `where` is where the link
    shall go, and `proposed` where the card had it go: without a script a form sends both, so that the same is no wish;
    `reach` for how long a rejection holds, and `widely` whether it rules out what its reason names on other pages too.
    """

    do = forms.RegexField(regex=r"\A(accept|anyway|reject)(:[a-z_]+)?\Z")
    warned = forms.RegexField(regex=r"\A[a-z_ ]*\Z", required=False, max_length=200)
    warned_of = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    expected = forms.ChoiceField(choices=[c for c in EdgeStatus.choices if c[0] != EdgeStatus.EXPORTED])
    run = forms.IntegerField(min_value=1, max_value=MAX_ID)
    pages = forms.RegexField(regex=r"\A[0-9]{1,18}-[0-9]{1,18}\Z", required=False)
    shown = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    anchor = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    pick = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    note = forms.CharField(required=False, max_length=500)
    start = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    end = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    sentence = forms.CharField(required=False, max_length=2 * MAX_SENTENCE)
    where = forms.ChoiceField(required=False, choices=Where.choices)
    proposed = forms.ChoiceField(required=False, choices=Where.choices)
    reach = forms.ChoiceField(required=False, choices=Reach.choices)
    widely = forms.BooleanField(required=False)
    position = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)

    def clean_do(self) -> str:
        verb, _, detail = self.cleaned_data["do"].partition(":")
        known = Reason.values if verb == "reject" else Rel.values
        if detail and detail not in known:
            raise forms.ValidationError("unknown choice")
        return self.cleaned_data["do"]

    @property
    def verb(self) -> Verb:
        """What the editor does; an accept of other words than those shown is an edit."""
        if self._verb == "reject":
            return Verb.REJECT
        return Verb.ACCEPT if self.settled_anchor == self.cleaned_data["shown"] else Verb.EDIT

    @property
    def _verb(self) -> str:
        return self.cleaned_data["do"].partition(":")[0]

    def ruling(self, edge: int) -> Ruling:
        """What else the editor says of the edge."""
        detail, note = self.cleaned_data["do"].partition(":")[2], self.cleaned_data["note"]
        if self.verb == Verb.REJECT:
            reach, widely = Reach(self.cleaned_data["reach"] or Reach.GOOD), self.cleaned_data["widely"]
            return Ruling(reason=detail, reach=reach, widely=widely, note=note)
        where, proposed = self.cleaned_data["where"], self.cleaned_data["proposed"]
        return Ruling(
            anchor=self.settled_anchor if self.verb == Verb.EDIT else None,
            span=span_of(self.cleaned_data),
            where=None if where in ("", proposed) else Where(where),
            proposed=Where(proposed) if proposed else None,
            rel=Rel(detail) if detail else None,
            sentence=self.cleaned_data["sentence"],
            note=note,
            overrules={edge: self.overrules},
        )

    def what_was_shown(self, edge: int) -> Shown:
        """What the editor saw of the edge."""
        data = self.cleaned_data
        source, _, target = data["pages"].partition("-")
        pages = {edge: (int(source), int(target))} if target else {}
        return Shown(EdgeStatus(data["expected"]), {edge: data["run"]}, {edge: data["shown"]}, data["position"], pages)

    @property
    def overrules(self) -> list[str]:
        """Codes of the warnings that the editor has seen about these very words and accepts them in spite of."""
        data = self.cleaned_data
        is_said = data["do"].startswith("anyway") and self.settled_anchor == data["warned_of"]
        return data["warned"].split() if is_said else []

    @property
    def settled_anchor(self) -> str:
        """The anchor the editor settled on."""
        data = self.cleaned_data
        return data["pick"] if data["pick"] and data["anchor"] == data["shown"] else data["anchor"]


class AsideForm(PlaceForm):
    """A suggestion to be set aside, or, with `back`, to be taken back."""

    back = forms.BooleanField(required=False)


class AskForm(PlaceForm):
    """A request for an opinion: of the colleague with the name `asked_of`, or of anybody; with `back`, taken back."""

    asked_of = forms.CharField(required=False, max_length=150)
    text = forms.CharField(required=False, max_length=MAX_TEXT)
    back = forms.BooleanField(required=False)


class CommentForm(PlaceForm):
    text = forms.CharField(max_length=MAX_TEXT)


class WordsForm(forms.Form):
    """Words that an editor is about to give a link; the characters of the donor's text that they were picked from, if
    any; and where the link shall go, if the editor has said so."""

    anchor = forms.CharField(max_length=MAX_ANCHOR, strip=False, required=False)
    start = forms.IntegerField(required=False, min_value=0, max_value=2**31 - 1)
    end = forms.IntegerField(required=False, min_value=1, max_value=2**31 - 1)
    where = forms.ChoiceField(required=False, choices=Where.choices)

    @property
    def ruling(self) -> Ruling:
        where = self.cleaned_data["where"]
        return Ruling(
            anchor=self.cleaned_data["anchor"], span=span_of(self.cleaned_data), where=Where(where) if where else None
        )


class SeenEdgesField(forms.CharField):
    """Suggestions as they were shown, each with the run that proposed it, and its donor and acceptor:
    "12:3:701-702 13:3:701-655 ..."; without the pages, they may be any."""

    def clean(self, value: str) -> Shown:
        runs: dict[int, int] = {}
        pages: dict[int, tuple[int, int]] = {}
        for text in super().clean(value).split():
            edge, _, rest = text.partition(":")
            run, has_pages, shown = rest.partition(":")
            if not (is_id(edge) and is_id(run)):
                raise forms.ValidationError("not suggestions")
            runs[int(edge)] = int(run)
            if has_pages:
                pages[int(edge)] = _pages(shown)
        return Shown(runs=runs, pages=pages)


def _pages(text: str) -> tuple[int, int]:
    """Ids of a donor and an acceptor, from "701-702"."""
    source, _, target = text.partition("-")
    if not (is_id(source) and is_id(target)):
        raise forms.ValidationError("not a donor and an acceptor")
    return int(source), int(target)


class BulkForm(PlaceForm):
    """A decision on all that was shown; `reason` and `reach` are of a rejection."""

    do = forms.ChoiceField(choices=[("accept", "accept"), ("reject", "reject")])
    reason = forms.ChoiceField(choices=[("", ""), *Reason.choices], required=False)
    reach = forms.ChoiceField(choices=Reach.choices, required=False)
    seen = SeenEdgesField(max_length=100_000)

    @property
    def verb(self) -> Verb:
        return Verb.ACCEPT if self.cleaned_data["do"] == "accept" else Verb.REJECT

    @property
    def ruling(self) -> Ruling:
        if self.verb == Verb.ACCEPT:
            return Ruling()
        return Ruling(reason=self.cleaned_data["reason"], reach=Reach(self.cleaned_data["reach"] or Reach.GOOD))


class SaveFilterForm(PlaceForm):
    """A name for the filter of the page."""

    name = forms.CharField(max_length=40)
    shared = forms.BooleanField(required=False)


KINDS = ("decide", "undo", "aside", "back", "ask", "unask", "comment")


class KeyForm(forms.Form):
    """What every operation that the browser sends has: its own key, what it does, and to which suggestion."""

    key = forms.UUIDField()
    kind = forms.ChoiceField(choices=[(kind, kind) for kind in KINDS])
    edge = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    of = forms.UUIDField(required=False)


def operations_in(sent: object, most: int) -> list[Operation]:
    """The operations of a request: {"operations": [{"key", "kind", ...}, ...]}, each with the fields of its form.

    Raises ValueError where the request has another form, or more than `most` operations.
    """
    listed = sent.get("operations") if isinstance(sent, dict) else None
    if not isinstance(listed, list) or len(listed) > most:
        raise ValueError("not a list of operations")
    return [_operation(fields) for fields in listed]


def held_in(sent: Mapping[str, object], most: int = 100) -> list[int]:
    """The ids of the cards that the browser holds ready; what is no id is left out."""
    held = sent.get("held")
    ids = held if isinstance(held, list) else []
    return [edge for edge in ids[:most] if isinstance(edge, int) and not isinstance(edge, bool) and 0 < edge <= MAX_ID]


def _operation(fields: object) -> Operation:
    if not isinstance(fields, dict) or not all(isinstance(value, str | int) for value in fields.values()):
        raise ValueError("not an operation")
    fields = {name: _storable(value) for name, value in fields.items()}
    head = KeyForm(fields)
    _check(head)
    key, kind, edge = head.cleaned_data["key"], head.cleaned_data["kind"], head.cleaned_data["edge"]
    if kind == "undo":
        form = UndoForm(fields)
        _check(form)
        return Undo(key, head.cleaned_data["of"], form.cleaned_data["decision"], form.cleaned_data["whole"])
    if edge is None:
        raise ValueError("an operation without its suggestion")
    if kind == "ask":
        ask = AskForm(fields)
        _check(ask)
        return Ask(key, edge, ask.cleaned_data["asked_of"], ask.cleaned_data["text"])
    if kind == "unask":
        return Ask(key, edge, back=True)
    if kind == "comment":
        comment = CommentForm(fields)
        _check(comment)
        return Say(key, edge, comment.cleaned_data["text"])
    if kind != "decide":
        return Aside(key, edge, back=kind == "back")
    decision = DecisionForm(fields)
    _check(decision)
    return Decide(key, edge, decision.verb, decision.ruling(edge), decision.what_was_shown(edge))


def _storable(value: str | int) -> str | int:
    """A text without halves of characters, which JSON can hold and the database cannot."""
    return value.encode("utf-8", "ignore").decode() if isinstance(value, str) else value


def _check(form: forms.Form) -> None:
    if not form.is_valid():
        raise ValueError(form.errors.as_text())


class UndoForm(PlaceForm):
    """The decision to take back, with `whole` its batch, or what was said with the key `of`; without one, what the user
    did last."""

    of = forms.UUIDField(required=False)
    decision = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)
    whole = forms.BooleanField(required=False)


class SeenField(forms.Field):
    """Values of the form "12:3:anchor", any number of them: ids of an edge and its run, and the text shown, if any."""

    widget = forms.MultipleHiddenInput

    def clean(self, value: list[str] | None) -> list[tuple[int, int, str | None]]:
        return [self._seen(text) for text in value or []]

    def _seen(self, text: str) -> tuple[int, int, str | None]:
        edge, _, rest = text.partition(":")
        run, is_shown, anchor = rest.partition(":")
        if not (is_id(edge) and is_id(run)):
            raise forms.ValidationError("not a suggestion")
        return int(edge), int(run), anchor if is_shown else None


class GroupForm(PlaceForm):
    """The checked suggestions of one donor, acceptor or category (0: of donors without one), each as "edge:run:anchor".
    `pages` are the donors and acceptors of all that were shown, each as "edge:run:donor-acceptor"; `warned` are those
    beside which warnings were shown, each as "edge:run:codes": checking one overrules these. `at` is the card that was
    open."""

    donor = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    acceptor = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    category = forms.IntegerField(min_value=0, max_value=MAX_ID, required=False)
    at = forms.IntegerField(min_value=1, max_value=MAX_ID, required=False)
    edge = SeenField(required=False)
    pages = SeenField(required=False)
    warned = SeenField(required=False)

    def clean_pages(self) -> dict[int, tuple[int, int]]:
        return {edge: _pages(text or "") for edge, _, text in self.cleaned_data["pages"]}

    def clean(self) -> None:
        if len(self._sides()) != 1:
            raise forms.ValidationError("a group has one page, or one category")

    @property
    def side(self) -> tuple[str, int]:
        """What the group has in common, and its id."""
        return self._sides()[0]

    def _sides(self) -> list[tuple[str, int]]:
        known = ((name, self.cleaned_data.get(name)) for name in ("donor", "acceptor", "category"))
        return [(name, group) for name, group in known if group is not None]

    @property
    def what_was_shown(self) -> Shown:
        """What the editor saw of the checked ones."""
        checked = self.cleaned_data["edge"]
        return Shown(
            runs={edge: run for edge, run, _ in checked},
            anchors={edge: anchor for edge, _, anchor in checked if anchor is not None},
            pages=self.cleaned_data["pages"],
        )

    @property
    def overrules(self) -> dict[int, list[str]]:
        return {edge: (codes or "").split() for edge, _, codes in self.cleaned_data["warned"]}
