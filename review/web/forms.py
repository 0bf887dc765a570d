"""What the queue's forms send. The words for the user are in the templates and in review.decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django import forms
from django.http import QueryDict

from linker.models import EdgeStatus, Rel
from linker.query_strings import MAX_ID, is_id
from review.decisions import Ruling, Shown
from review.models import Reason, Verb
from review.queue.filters import Cursor, QueueFilter

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


class DecisionForm(PlaceForm):
    """One decision on one edge. Buttons send `do`: "accept", "accept:<rel>", "anyway", "anyway:<rel>", "reject" or
    "reject:<reason>".

    `pick` is one of the alternatives offered; it counts where the text of `anchor` was left as it was shown. `warned`
    are the codes of the warnings shown, about the words `warned_of`: "anyway" accepts those words in spite of them.
    """

    do = forms.RegexField(regex=r"\A(accept|anyway|reject)(:[a-z_]+)?\Z")
    warned = forms.RegexField(regex=r"\A[a-z_ ]*\Z", required=False, max_length=200)
    warned_of = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    expected = forms.ChoiceField(choices=[c for c in EdgeStatus.choices if c[0] != EdgeStatus.EXPORTED])
    run = forms.IntegerField(min_value=1, max_value=MAX_ID)
    shown = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    anchor = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    pick = forms.CharField(required=False, max_length=MAX_ANCHOR, strip=False)
    note = forms.CharField(required=False, max_length=500)
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
            return Ruling(reason=detail, note=note)
        return Ruling(
            anchor=self.settled_anchor if self.verb == Verb.EDIT else None,
            rel=Rel(detail) if detail else None,
            note=note,
            overrules={edge: self.overrules},
        )

    def what_was_shown(self, edge: int) -> Shown:
        """What the editor saw of the edge."""
        data = self.cleaned_data
        return Shown(EdgeStatus(data["expected"]), {edge: data["run"]}, {edge: data["shown"]}, data["position"])

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


class UndoForm(PlaceForm):
    """The decision to take back; without one, the user's newest."""

    decision = forms.IntegerField(required=False, min_value=1, max_value=MAX_ID)


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
    """The checked suggestions of one donor, each as "edge:run:anchor"; `warned` are those beside which warnings
    were shown, each as "edge:run:codes": checking one overrules these."""

    donor = forms.IntegerField(min_value=1, max_value=MAX_ID)
    edge = SeenField(required=False)
    warned = SeenField(required=False)

    @property
    def seen_runs(self) -> dict[int, int]:
        return {edge: run for edge, run, _ in self.cleaned_data["edge"]}

    @property
    def seen_anchors(self) -> dict[int, str]:
        return {edge: anchor for edge, _, anchor in self.cleaned_data["edge"] if anchor is not None}

    @property
    def overrules(self) -> dict[int, list[str]]:
        return {edge: (codes or "").split() for edge, _, codes in self.cleaned_data["warned"]}
