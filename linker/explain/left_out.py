"""Reads: why a pair that the match run found, or could have found, was not proposed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Count, Min, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from linker.engine.allocation.allocate import Reason
from linker.engine.params import MatchParams, Ranking
from linker.engine.tiers import read_tiers
from linker.explain.findings import Finding, Link
from linker.explain.wording import links_text, new_links_text, places_text, score_text
from linker.matching.cohorts import read_by
from linker.matching.pair_rules import MAX_ALTERNATIVE_PRODUCTS, MAX_COMPLEMENTARY_PRODUCTS
from linker.matching.report_types import MatchReport
from linker.models import Basis, CandidateEdge, ExistingLink, Placement, Run
from linker.models.linked import BESIDE_ALONE, BESIDE_LINK
from linker.models.querysets import APPROVED, HELD
from linker.wording import number

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from linker.explain.context import WhyNotContext
    from linker.matching.cohorts import ReadBy
    from linker.matching.room import Room
    from linker.models import Page

MORE_LINKS = gettext_noop("Allow more links a page, in the text or beside it, and match again.")


@dataclass(frozen=True)
class Compared:
    """The pair as a run by cosine sees it. `level` is -1 further up than any run looks."""

    similarity: float
    level: int
    score: float


@dataclass(frozen=True)
class RunPair:
    """A pair and what the run saw in it: `score` is the run's, `compared` is missing where a vector is."""

    context: WhyNotContext
    run: Run
    donor: Page
    acceptor: Page
    score: float
    compared: Compared | None

    @property
    def scored(self) -> str:
        """A sentence."""
        return _("It scored %(score)s in the %(run)s.") % {
            "score": score_text(self.score),
            "run": self.context.run_name,
        }

    def and_so(self, text: str) -> str:
        """What it scored, and sentences that say why that was not enough."""
        return f"{self.scored} {text}"

    @property
    def room(self) -> Room:
        return self.context.room(self.donor)

    def given(self) -> QuerySet[CandidateEdge]:
        """The donor's edges that use up its caps."""
        return self.context.counted(CandidateEdge.objects.filter(source=self.donor))

    def received(self) -> QuerySet[CandidateEdge]:
        """The acceptor's edges that use up its caps."""
        return self.context.counted(CandidateEdge.objects.filter(target=self.acceptor))

    def donors_suggestions(self) -> Link:
        return self.context.link(_("The donor’s suggestions"), "queue", donor=self.donor.pk, status="all", held=1)


def ranking_of(run: Run, params: MatchParams) -> str:
    """How the run ranked; its report says what `auto` became."""
    ranking = MatchReport.from_json(run.report).ranking or params.ranking
    return Ranking.COSINE if ranking == Ranking.AUTO else ranking


def left_out(pair: RunPair, reason: Reason) -> Finding:
    """Why a pair that the run found was not proposed, with what it would have taken."""
    if reason is Reason.BELOW_FLOOR:
        floor = pair.context.params.floor(ranking_of(pair.run, pair.context.params))
        return below_floor(pair, floor, _("It scored %(score)s") % {"score": score_text(pair.score)})
    if reason is Reason.LINKED_BESIDE:
        return _text_alone(pair)
    if reason is Reason.SOURCE_FULL and _found_no_place(pair):
        return _no_room(pair, was_placed=False)
    if reason is Reason.SOURCE_FULL:
        return _donor_full(pair)
    if reason is Reason.TARGET_FULL:
        return _acceptor_full(pair)
    if reason is Reason.SAME_GROUP:
        return Finding(
            "other-of-group",
            pair.and_so(
                _(
                    "A donor gets a link to only one of several near-copies, variants or translations, and another of "
                    "them is the better acceptor here."
                )
            ),
            link=pair.context.link(_("Copies and variants"), "copies", q=pair.acceptor.url),
        )
    if reason is Reason.WORDS_RULED_OUT:
        return Finding(
            "suppressed-words",
            pair.and_so(_("Editors have ruled out all words that a link to the acceptor could have.")),
            _("Allow some of them again, and match again."),
            pair.context.link(_("Suppressed"), "suppressed", kind="words"),
        )
    if reason is Reason.BARRED:
        return Finding(
            "barred-then",
            pair.and_so(_("When the run looked at it, safety classes kept the two pages apart.")),
            _("Match again."),
            pair.context.match_again(),
        )
    if reason is Reason.PRODUCTS_FULL:
        return _enough_products(pair)
    if reason is Reason.RECIPROCAL:
        return Finding(
            "reciprocal",
            pair.and_so(
                _(
                    "The acceptor links back to the donor, or is suggested to, and one of the two already has its "
                    "%(links)s of that kind."
                )
                % {"links": links_text(pair.context.params.reciprocal or 0)}
            ),
            _("Allow more links that link back, and match again."),
            pair.context.match_again(),
        )
    return _no_room(pair)


def not_kept(pair: RunPair, sum_text: str) -> Finding:
    """Why a pair above the floor is no suggestion: nothing was kept of it, so the caps are looked at."""
    context, given = pair.context, pair.given()
    if ExistingLink.objects.filter(BESIDE_LINK, source=pair.donor, target=pair.acceptor).exists():
        return left_out(pair, Reason.LINKED_BESIDE)
    if given.count() >= sum(pair.room):
        return left_out(pair, Reason.SOURCE_FULL)
    if context.target_cap and pair.received().count() >= context.target_cap:
        return left_out(pair, Reason.TARGET_FULL)
    if given.filter(placement=Placement.RELATED).count() >= pair.room.related:
        return left_out(pair, Reason.RELATED_FULL)
    return Finding(
        "not-found",
        _(
            "%(sum)s, above the minimum of %(floor)s in the %(run)s, and both pages have room. It was not among the "
            "donor’s best %(pool)s then, or a page has changed since."
        )
        % {
            "sum": sum_text,
            "floor": score_text(context.params.floor(Ranking.COSINE)),
            "run": context.run_name,
            "pool": context.params.pool,
        },
        _("Match again."),
        context.match_again(),
    )


def below_floor(pair: RunPair, floor: float, scored: str) -> Finding:
    lowest = score_text(np.floor(pair.score * 10_000) / 10_000)
    return Finding(
        "below-floor",
        _("%(sum)s. The %(run)s kept %(floor)s and above.")
        % {"sum": scored, "run": pair.context.run_name, "floor": score_text(floor)},
        _("Match again with a lowest score of %(lowest)s or less to include it.") % {"lowest": lowest},
        pair.context.match_again(),
    )


def _donor_full(pair: RunPair) -> Finding:
    most = _("The donor gives at most %(links)s, and other pairs came first%(lowest)s.")
    full = most % _lowest(pair.given(), sum(pair.room)) + _may_give_way(pair.given(), pair.score)
    return Finding(
        "donor-full",
        pair.and_so(full + pair.context.less_room(pair.donor)),
        _("Reject weaker suggestions there or allow more links a page, and match again."),
        pair.donors_suggestions(),
    )


def _acceptor_full(pair: RunPair) -> Finding:
    most = _("The acceptor receives at most %(links)s, and other pairs came first%(lowest)s.")
    full = most % _lowest(pair.received(), pair.context.target_cap) + _may_give_way(pair.received(), pair.score)
    return Finding(
        "acceptor-full",
        pair.and_so(full),
        _("Raise the cap for acceptors, and match again."),
        pair.context.link(_("The acceptor’s suggestions"), "page", pair.acceptor.pk),
    )


def _enough_products(pair: RunPair) -> Finding:
    same = pair.donor.category_id == pair.acceptor.category_id
    if same:
        text = _(
            "Both are products, and a product gets at most %(most)d suggestions of alternatives, products of its own "
            "category; those that it has score higher."
        ) % {"most": MAX_ALTERNATIVE_PRODUCTS}
    else:
        text = _(
            "Both are products, and a product gets at most %(most)d suggestions of complements, products of other "
            "categories; those that it has score higher."
        ) % {"most": MAX_COMPLEMENTARY_PRODUCTS}
    return Finding(
        "products-full",
        pair.and_so(text),
        _("Reject weaker suggestions there, and match again."),
        pair.donors_suggestions(),
    )


def _text_alone(pair: RunPair) -> Finding:
    """Why a pair that is linked beside the text, and may only be linked in it, was not."""
    links = ExistingLink.objects.filter(source=pair.donor, target=pair.acceptor, block__in=BESIDE_ALONE).order_by("pk")
    where = _("The donor linked to it beside its text")
    if links:
        where = _("The donor links to it %(places)s") % {"places": places_text(list(links))}
    inline = pair.given().filter(placement=Placement.INLINE).count()
    room = pair.room.inline
    if _wanted(pair) != Placement.INLINE:
        own = _read_by(pair)
        why, todo = _("the tier for that score places links beside the text"), _("Change the placement of that tier.")
        if own is not None:
            why = _("the tier for that score, by the bounds of links %(cohort)s, places links beside the text") % {
                "cohort": own.cohort.said
            }
    elif pair.donor.pk not in pair.context.with_text:
        why, todo = _("the import has no text for the donor"), _("Import a crawl that extracts the main text.")
    elif inline >= room:
        why = _("the donor’s text already has its %(links)s") % {"links": new_links_text(room)}
        todo = _("Allow more links in the text, and match again.")
    else:
        why, todo = (
            _("the donor’s text has no words for it that fit well"),
            _("Add a sentence that names the acceptor to the donor’s text, import it and match again."),
        )
    return Finding(
        "linked-beside",
        pair.and_so(
            _("%(where)s, so a new link could only go in its text, but %(why)s.") % {"where": where, "why": why}
            + pair.context.less_room(pair.donor)
        ),
        todo,
        pair.context.link(_("The donor"), "page", pair.donor.pk),
    )


def _found_no_place(pair: RunPair) -> bool:
    """Whether links given to the donor found no place: the block beside the text is full, and it has fewer than it
    may have."""
    figures = pair.given().aggregate(all=Count("pk"), beside=Count("pk", filter=Q(placement=Placement.RELATED)))
    return bool(figures["all"] < sum(pair.room) and figures["beside"] >= pair.room.related)


def _no_room(pair: RunPair, *, was_placed: bool = True) -> Finding:
    """Why the donor had neither a place in the text nor one beside it for the link.

    `was_placed`: its words were looked for in the text; else the donor's links went to others before that.
    """
    room, again = pair.room, pair.context.match_again()
    filled = {"related": _beside(pair), "inline": new_links_text(room.inline)}
    if _wanted(pair) != Placement.INLINE:
        tier = _("Its tier places it beside the text, but the block beside the text already has its %(related)s.")
        if own := _read_by(pair):
            filled["cohort"] = own.cohort.said
            tier = _(
                "Its tier places it beside the text, by the bounds of links %(cohort)s, but the block beside the text "
                "already has its %(related)s."
            )
        return Finding("related-full", pair.and_so(tier % filled), _(MORE_LINKS), again)
    if pair.given().filter(placement=Placement.INLINE).count() >= room.inline:
        full = _(
            "The donor’s text already has its %(inline)s, and the block beside the text already has its %(related)s."
        )
        less = pair.context.less_room(pair.donor)
        return Finding("donor-full", pair.and_so(full % filled + less), _(MORE_LINKS), again)
    if not was_placed:
        others = _(
            "The donor’s %(links)s went to other pages, and not all of those found words in the text; the block beside "
            "the text already has its %(related)s."
        )
        text = others % (filled | {"links": new_links_text(sum(room))})
        return Finding("donor-full", pair.and_so(text), _(MORE_LINKS), again)
    gap = _(
        "The donor’s text has no words for it that fit well, and the block beside the text already has its %(related)s."
    )
    return Finding(
        "no-phrase",
        pair.and_so(gap % filled),
        _("Add a sentence that names the acceptor to the donor’s text, import it and match again."),
        pair.context.link(_("The donor"), "page", pair.donor.pk),
    )


def _beside(pair: RunPair) -> str:
    """How many links the block beside the donor's text has room for, and how many of them the queue does not show."""
    links = new_links_text(pair.room.related)
    held = pair.given().filter(HELD, placement=Placement.RELATED).count()
    return _("%(links)s (%(held)s held back)") % {"links": links, "held": number(held)} if held else links


def _wanted(pair: RunPair) -> str:
    """Where the tiers that the run's edges are read by want a pair of that score; empty where none does."""
    basis = MatchReport.from_json(pair.run.report).basis or Basis.COSINE
    value = pair.compared.similarity if pair.compared is not None else pair.score
    if basis == Basis.PROBABILITY:
        value = pair.score
    elif basis == Basis.QUANTILE:
        edges = CandidateEdge.objects.filter(run=pair.run).aggregate(
            all=Count("pk"), lower=Count("pk", filter=Q(score__lte=pair.score))
        )
        value = edges["lower"] / max(edges["all"], 1)
    own = _read_by(pair)
    tiers = list(pair.context.project.tiers.filter(basis=basis))
    bounds = {tier.pk: tier.lower_bound for tier in tiers} if own is None else own.bounds
    read = [tier for tier in tiers if tier.pk in bounds]
    place = int(read_tiers(np.array([value]), np.array([bounds[tier.pk] for tier in read]))[0])
    return read[place].placement if place >= 0 else ""


def _read_by(pair: RunPair) -> ReadBy | None:
    """Whose bounds the run read the pair by, were there words for it; None for the project's."""
    basis = MatchReport.from_json(pair.run.report).basis or Basis.COSINE
    return read_by(pair.context.project, basis, [(pair.donor.pk, pair.acceptor.pk)], [True])[0]


def _lowest(edges: QuerySet[CandidateEdge], cap: int) -> dict[str, str]:
    """How full one side is, and the score it would have taken to get in."""
    figures = edges.aggregate(links=Count("pk"), lowest=Min("score", filter=~APPROVED))
    lowest = ""
    if figures["lowest"] is not None:
        said = _("; of the %(links)d it has, the lowest open one scored %(score)s")
        lowest = said % {"links": figures["links"], "score": score_text(figures["lowest"])}
    return {"links": new_links_text(cap), "lowest": lowest}


def _may_give_way(edges: QuerySet[CandidateEdge], score: float) -> str:
    """Why weaker links may come first, with a space before; empty where there are none."""
    if not edges.filter(~APPROVED, score__lt=score).exists():
        return ""
    said = _(
        "Links are allocated over the whole site, and pages with few inbound links come first, so a page’s best pair "
        "may have to give way."
    )
    return f" {said}"
