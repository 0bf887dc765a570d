"""The words of the trade, each explained in a sentence or two: shown where a page uses them first, and in the docs."""

from __future__ import annotations

TERMS = {
    "acceptor": "The page that a suggested link leads to. Good acceptors are worth more visits than they get.",
    "anchor": "The words of a link: what a reader clicks on.",
    "block": "The pages that are compared with one another: those of one category and its subcategories. A page is "
    "compared with its own block first, then further up the tree.",
    "body link": "A link in the main text of a page, set by an editor, as against links in menus, footers and boxes "
    "that stand on every page.",
    "canonical": "The address that a page names as its own where it can be reached under several.",
    "category": "A place in the site’s tree, such as Shop › Tents. It comes from the breadcrumbs, or from the folders "
    "of the address.",
    "content gap": "The link belongs into the text, but the text has no good words to carry it. An editor would have "
    "to add a sentence. Products, and pages with hardly any text, have none: links from them stand beside it.",
    "crawl depth": "How many clicks a page is away from the home page.",
    "donor": "The page that a suggested link stands on. Good donors are found and crawled often.",
    "embedding": "Turning a page’s text into a vector.",
    "generator": "A way of finding candidates, such as pages of similar meaning or a title that the text mentions.",
    "held back": "Kept out of the queue because the suggestion is weak or its tier is set so. You can ask for it.",
    "indexable": "Search engines may list the page: it answers, does not redirect, is not marked noindex, and is its "
    "own canonical.",
    "JOIL": "A file of three columns: donor, anchor and acceptor. Other tools for internal links read it.",
    "nofollow": "A mark on a link that asks search engines not to count it.",
    "orphan": "An indexable page that no other page links to from its text.",
    "pilot": "A match over a sample of the donors. Its suggestions are reviewed first, to see how many are accepted "
    "before the whole site is matched.",
    "placement": "Where the link goes: in the text of the donor, or in a block of related pages beside it.",
    "probability": "How likely an editor is to approve the suggestion as it stands. Of a hundred suggestions at 80%, "
    "about eighty.",
    "quantile": "The share of the run’s suggestions that score no higher: 0.9 begins the best tenth.",
    "ranking": "The order of the suggestions: learned from the site’s own links or from those of "
    "other sites, by a fixed formula, or by similarity.",
    "release": "A file of approved links for the developers. It is numbered and never changes.",
    "role": "What a page is for: home, hub, article, product, utility, thin or event. It decides which links the page "
    "may give and receive.",
    "run": "A piece of work in the background, such as an import or a match, kept with what it was asked and counted.",
    "sensitive": "About medicine, law or money, or whatever your managers say: such a link never leaves without a "
    "person’s decision.",
    "similarity": "How near two pages are by meaning, as the cosine of their vectors: 1 is the same, 0 unrelated.",
    "tier": "A range of scores with a rule: where its links go, with which rel, and whether a person must look first.",
    "vector": "A list of numbers that stands for a page’s meaning. Pages about the same thing have similar vectors.",
}
