"""The words of the trade, each explained in a sentence or two: shown where a page uses them first, and in the docs."""

from __future__ import annotations

from django.utils.translation import gettext_noop as _

TERMS = {
    _("acceptor"): _("The page that a suggested link leads to. Good acceptors deserve more visits than they get."),
    _("anchor"): _("The words of a link: what a reader clicks on."),
    _("block"): _(
        "The pages that are compared with one another: those of one category and its subcategories. A page is "
        "compared with its own block first, then further up the tree."
    ),
    _("body link"): _(
        "A link that an editor set in the main text of a page, unlike links in menus, footers and boxes, "
        "which appear on every page."
    ),
    _("canonical"): _("The address that a page names as its own if it can be reached under several."),
    _("category"): _(
        "A place in the site’s tree, such as Shop › Tents. It comes from the breadcrumbs, or from the folders "
        "of the address."
    ),
    _("content gap"): _(
        "The link belongs in the text, but the text has no words for it that are sure enough, so an editor would have"
        " to add a sentence. A card is called so only where that sentence is asked for. Products and pages with "
        "hardly any text have no content gaps: links from them go beside the text."
    ),
    _("crawl depth"): _("How many clicks a page is away from the home page."),
    _("donor"): _("The page that a suggested link is placed on. Good donors are found and crawled often."),
    _("embedding"): _("Turning a page’s text into a vector."),
    _("generator"): _(
        "A way of finding candidates, such as pages with a similar meaning or a title that the text mentions."
    ),
    _("held back"): _("Kept out of the queue because the suggestion is weak or its tier is set so. A filter shows it."),
    _("indexable"): _(
        "Search engines may list the page: it answers, does not redirect, is not marked noindex, and is its "
        "own canonical."
    ),
    _("JOIL"): _("A file of three columns: donor, anchor and acceptor. Other tools for internal links read it."),
    _("nofollow"): _("A mark on a link that asks search engines not to count it."),
    _("orphan"): _(
        "An indexable page that no other page links to from its text. Home pages, hubs and utility pages, which "
        "readers reach by menus, are left out."
    ),
    _("pilot"): _(
        "A match over a sample of the donors. Its suggestions are reviewed first, to see how many are accepted "
        "before the whole site is matched."
    ),
    _("placement"): _(
        "Where the link goes: on words in the text of the donor, on a line of its own after a paragraph, in the list "
        "at the end, or into a sentence that is still to be written (content gap). The last three are beside the "
        "text."
    ),
    _("probability"): _(
        "How likely an editor is to approve the suggestion unchanged. Of a hundred suggestions at 80%, "
        "about eighty are approved."
    ),
    _("quantile"): _("The share of the run’s suggestions that score no higher: the best tenth starts at 0.9."),
    _("ranking"): _(
        "The order of the suggestions: learned from the site’s own links or from those of "
        "other sites, by a fixed formula, or by similarity."
    ),
    _("release"): _("A numbered file of approved links for the developers. It never changes."),
    _("role"): _(
        "What a page is for: home, hub, article, product, utility, thin or event. It decides which links the page "
        "may give and receive."
    ),
    _("run"): _("A task in the background, such as an import or a match. Its parameters and results are kept."),
    _("sensitive"): _(
        "About medicine, law or money, or another subject your managers have chosen. A sensitive link is "
        "never exported without human review."
    ),
    _("similarity"): _(
        "How close two pages are in meaning, as the cosine of their vectors: 1 is the same, 0 unrelated."
    ),
    _("tier"): _(
        "A range of scores with a rule: where its links go, with which rel, and whether they need human review."
    ),
    _("vector"): _(
        "A list of numbers that represents a page’s meaning. Pages about the same thing have similar vectors."
    ),
}
