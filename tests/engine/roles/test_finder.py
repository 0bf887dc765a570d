"""What a page is for, by examples: pages that are what they seem, and pages that only look like it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from linker.engine.roles.days import days_in
from linker.engine.roles.finder import PageFacts, SiteFacts, _path, _read_path, find_role, sections_with_prices
from linker.engine.roles.policy import USUAL, Gives, PageRole, Receives, RoleLinks, differing, role_links

SITE = SiteFacts("https://shop.example", texts_tell=True)
TEXT = "Words about tents and how to pitch them in the wind. " * 30


def role(path: str, title: str = "", **facts: Any) -> str:
    values: dict[str, Any] = {"title": title, "h1": title, "text": TEXT, "words": 300, **facts}
    return find_role(PageFacts(f"https://shop.example{path}", **values), SITE).role.value


@pytest.mark.parametrize(
    ("path", "title", "expected"),
    [
        ("/", "Shop", "home"),
        ("", "Shop", "home"),
        ("/index.html", "Shop", "home"),
        ("/de/", "Laden", "home"),
        ("/en-gb", "Shop", "home"),
        ("/?p=12", "Tents", "article"),
        # utility, in six languages
        ("/contact", "Contact us", "utility"),
        ("/contact", "Contact The Example Shop", "utility"),
        ("/de/kontakt/", "Kontakt | Laden", "utility"),
        ("/about/contact/", "Contact", "utility"),
        ("/service/kontakt.html", "Kontakt", "utility"),
        ("/Impressum/", "Impressum", "utility"),
        ("/datenschutzerklaerung", "Datenschutzerklärung", "utility"),
        ("/datenschutz", "Wie wir mit Ihren Daten umgehen", "utility"),
        ("/agb.html", "AGB", "utility"),
        ("/mentions-legales", "Mentions légales", "utility"),
        ("/fr/politique-de-confidentialite", "Politique de confidentialité", "utility"),
        ("/pages/conditions-generales-de-vente", "CGV", "utility"),
        ("/aviso-legal", "Aviso legal", "utility"),
        ("/es/contacto", "Contacto", "utility"),
        ("/politica-de-cookies", "Política de cookies", "utility"),
        ("/note-legali", "Note legali", "utility"),
        ("/it/contatti", "Contatti", "utility"),
        ("/algemene-voorwaarden", "Algemene voorwaarden", "utility"),
        ("/nl/privacyverklaring", "Privacyverklaring", "utility"),
        ("/policies/terms-of-service", "Terms of service", "utility"),
        ("/privacy/", "The Example Privacy Policy", "utility"),
        ("/login", "Login", "utility"),
        ("/customer/account/login", "Customer login", "utility"),
        ("/wp-login.php", "Log in", "utility"),
        ("/my-account/orders/", "Your orders", "utility"),
        ("/warenkorb", "Warenkorb", "utility"),
        ("/checkout/cart", "Basket", "utility"),
        ("/search", "Search", "utility"),
        ("/suche/", "Suche", "utility"),
        ("/sitemap.html", "Sitemap", "utility"),
        ("/404/", "404 – Not Found", "utility"),
        ("/konto/anmelden", "Anmelden", "article"),  # nothing says that “konto” is no subject
        # what only sounds like it
        ("/health/how-to-contact-your-doctor", "How to contact your doctor", "article"),
        ("/blog/contact", "Contact", "article"),
        ("/contact", "Contact lenses for swimmers: a guide", "article"),
        ("/docs/cli/login", "login command", "article"),
        ("/docs/login", "login", "article"),
        ("/docs/web/http/status/404", "404 Not Found", "article"),
        ("/docs/api/location/search", "Location: search", "article"),
        ("/topics/terms-of-service", "Terms of service", "article"),
        ("/services/search/", "Search.gov", "article"),
        ("/2013/09/20/privacy-policies-terms-of-service-oh-my", "Privacy policies, terms of service, oh my", "article"),
        ("/recipes/cookies", "Cookies", "article"),
        ("/blog/cart", "Cart", "article"),
        ("/magazin/datenschutz-beim-camping", "Datenschutz beim Camping", "article"),
        # events without a date are nobody's past
        ("/events/summer-party", "Summer party", "article"),
    ],
)  # fmt: skip
def test_by_address_and_name(path, title, expected):
    assert role(path, title) == expected


@pytest.mark.parametrize(
    ("path", "title", "facts", "expected"),
    [
        # every footer leads there
        ("/node/12", "Contact", {"menu_share": 0.9}, "utility"),
        ("/node/12", "Contact", {"menu_share": 0.1}, "article"),
        ("/contact", "Get in touch", {"menu_share": 0.9}, "utility"),
        ("/contact", "Get in touch", {}, "article"),
        ("/docs/login", "Login", {"menu_share": 0.9}, "article"),
        ("/tents/", "Tents", {"menu_share": 0.9}, "article"),
        # lists
        ("/tag/tents/", "Tents", {"words": 20}, "hub"),
        ("/blog/category/tents", "Tents", {"words": 90}, "hub"),
        ("/de/schlagwort/zelte", "Zelte", {"link_share": 0.4}, "hub"),
        ("/kategorie/zelte", "Zelte", {"words": 900, "link_share": 0.05}, "article"),
        ("/collections/tents", "Tents", {"words": 60, "links_out": 9}, "hub"),
        ("/collections/vase-12", "A vase", {"words": 60}, "article"),
        ("/author/ada", "Ada", {"words": 60, "below": 1}, "hub"),
        ("/collections/tents/products/dome", "Dome", {"words": 60}, "article"),
        ("/archives/2015/05/03/pitching", "Pitching", {"words": 90}, "article"),
        ("/2015/05/", "May 2015", {"words": 30, "below": 9}, "hub"),
        ("/docs/api/element/labels/get", "labels.get", {"words": 60}, "article"),
        ("/all-tents", "All tents", {"links_out": 20, "link_share": 0.8}, "hub"),
        ("/all-tents", "All tents", {"links_out": 20, "link_share": 0.6}, "article"),
        ("/all-tents", "All tents", {"links_out": 20, "link_share": 0.6, "below": 20}, "hub"),
        ("/tents", "Tents", {"links_out": 20, "link_share": 0.3, "below": 20}, "article"),
        ("/magazine", "Magazine", {"words": 30, "below": 40}, "hub"),
        ("/magazine", "Magazine", {"words": 900, "below": 40}, "article"),
        ("/magazine/index", "Index", {"words": None, "text": ""}, "hub"),
        ("/docs/http/index", "HTTP index", {"words": 9}, "hub"),
        ("/boots", "Boots", {"words": 13, "links_out": 2, "link_share": 1.0}, "hub"),
        ("/boots", "Boots", {"words": 13, "below": 9}, "hub"),
        ("/boots", "Boots", {"words": 13, "below": 2, "link_share": 0.4}, "hub"),
        ("/boots", "Boots", {"words": 13, "below": 2}, "article"),
        ("/boots", "Boots", {"words": 80, "below": 9}, "article"),
        # too little text
        ("/soon", "Soon", {"words": 3, "text": "Coming soon."}, "thin"),
        ("/soon", "Soon", {"words": 3, "text": "Coming soon.", "links_in": 1}, "article"),
        ("/soon", "Soon", {"words": 5, "text": "The following example is JSON:"}, "article"),
        ("/soon", "Soon", {"words": None, "text": ""}, "article"),
        # products
        ("/p/dome-3", "Dome 3", {"text": "Dome 3. Price: 249,00 €"}, "product"),
        ("/zelte/dome-3", "Dome 3", {"text": "Dome 3 249,00 € In den Warenkorb"}, "product"),
        ("/zelte/kosten", "Was Zelte kosten", {"text": "Ein Zelt kostet 249,00 € und mehr."}, "article"),
        ("/products/tents", "How we make tents", {}, "article"),
    ],
)  # fmt: skip
def test_by_links_and_text(path, title, facts, expected):
    assert role(path, title, **facts) == expected


def test_a_section_of_another_name_than_the_pages_language_is_no_home():
    assert role("/it/", "IT and computing", language="en") == "article"
    assert role("/it/", "Negozio", language="it-IT") == "home"


@pytest.mark.parametrize("path", ["/home", "/home/", "/index.html"])
def test_a_page_called_home_is_the_first_page_only_where_nothing_stands_at_the_sites_address(path):
    page = PageFacts(f"https://shop.example{path}", "Shop", text=TEXT, words=300)
    assert find_role(page, SITE).role is PageRole.HOME
    with_root = SiteFacts("https://shop.example", texts_tell=True, has_root=True)
    assert find_role(page, with_root).role is not PageRole.HOME
    assert find_role(PageFacts("https://shop.example/", "Shop"), with_root).role is PageRole.HOME
    assert find_role(PageFacts("https://shop.example/de/home", "Laden", language="de"), with_root).role is PageRole.HOME


def test_menus_that_lead_to_every_page_say_nothing_of_one():
    page = PageFacts("https://docs.example/login", "Sign-in with the tool", menu_share=1.0)
    assert find_role(page, SiteFacts("https://docs.example")).role is PageRole.UTILITY
    assert find_role(page, SiteFacts("https://docs.example", menus_tell=False)).role is PageRole.ARTICLE


def test_short_texts_say_nothing_of_a_site_that_has_few_texts():
    page = PageFacts("https://shop.example/soon", "Soon", text="Coming soon.", words=2)
    assert find_role(page, SiteFacts("https://shop.example")).role is PageRole.ARTICLE


def test_pages_without_a_price_are_products_among_products():
    pages = [(f"https://shop.example/p/{number}", f"Price: {number} €") for number in range(12)]
    pages += [(f"https://shop.example/products/{number}", "How we make it") for number in range(12)]
    sells_in = sections_with_prices([*pages, ("https://shop.example/p/13", "A mug")])
    assert sells_in == {"p"}
    page = PageFacts("https://shop.example/p/13", "A mug", text="A mug", words=2)
    assert find_role(page, SiteFacts("https://shop.example", sells_in=sells_in)).role is PageRole.PRODUCT


ANNOUNCED = {"text": "Join us to learn how to pitch a tent.", "words": 100}


@pytest.mark.parametrize(
    ("path", "title", "facts", "day"),
    [
        ("/event/2021/04/14/plain-language", "Plain language", ANNOUNCED, date(2021, 4, 14)),
        ("/veranstaltungen/zelttag", "Zelttag am 3. Mai 2015", ANNOUNCED, date(2015, 5, 3)),
        ("/events/party", "Summer party", {"text": "On 3 to 5 June 2024 we celebrate.", "words": 90}, date(2024, 6, 5)),
        ("/agenda/fete", "Fête", {"text": "Le 14 juillet 2023 à Paris.", "words": 90}, date(2023, 7, 14)),
        ("/blog/termin", "Termin Teamtreffen Mai 2015", ANNOUNCED, date(2015, 6, 1)),
        ("/blog/london", "Tent workshop in London, 19 October 2015", ANNOUNCED, date(2015, 10, 19)),
        # written about, recorded, or chosen by other pages: it has something to say still
        ("/event/2021/04/14/plain", "Recap: plain language", ANNOUNCED, None),
        ("/event/2021/04/14/reading-reports/", "Reading reports", ANNOUNCED, date(2021, 4, 14)),  # what it is about
        # minutes tell what was said, whatever calls them so
        ("/board/2021-05-03", "Minutes of the board meeting, 3 May 2021", {"text": "We met.", "words": 90}, None),
        ("/minutes/may", "Board meeting, 3 May 2021", {"text": "We met.", "words": 90}, None),
        ("/rat/comptes-rendus/mai", "Réunion du conseil, 3 mai 2021", {"text": "Le conseil.", "words": 90}, None),
        ("/rat/mai", "Sitzungsprotokoll Treffen 3. Mai 2021", {"text": "Der Rat.", "words": 90}, None),
        ("/rat/mai", "Treffen vom 3. Mai 2021", {"text": "Anwesend: Ada, Bo\nDer Rat.", "words": 90}, None),
        ("/board/may", "Board meeting, 3 May 2021", {"text": "Attendees\nAda and Bo", "words": 90}, None),
        ("/board/may", "Board meeting, 3 May 2021", {"text": "All are present: come.", "words": 90}, date(2021, 5, 3)),
        ("/event/2021/04/14/plain", "Plain language", {**ANNOUNCED, "words": 900}, None),
        ("/event/2021/04/14/plain", "Plain language", {"text": "Read the transcript.", "words": 90}, None),
        ("/event/2021/04/14/plain", "Plain language", {**ANNOUNCED, "links_in": 2}, None),
        ("/blog/2021/04/14/plain", "Plain language", ANNOUNCED, None),
        ("/blog/2021/04/14/met", "Meeting of tent makers, 13 April 2021", ANNOUNCED, None),
        ("/blog/2021/04/14/meet", "Meeting of tent makers, 20 April 2021", ANNOUNCED, date(2021, 4, 20)),
        ("/blog/meeting", "How to hold a meeting", {"text": "Since 1 May 2020 we meet.", "words": 90}, None),
    ],
)
def test_events_are_known_by_their_day(path, title, facts, day):
    found = find_role(PageFacts(f"https://shop.example{path}", title, title, **facts), SITE)
    assert (found.role is PageRole.EVENT, found.day) == (day is not None, day)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("On March 13, 2024, the summit", [date(2024, 3, 13)]),
        ("am 3. März 2024 und am 04.05.2024", [date(2024, 5, 4), date(2024, 3, 3)]),
        ("del 7 de enero de 2022", [date(2022, 1, 7)]),
        ("il 2 febbraio 2021", [date(2021, 2, 2)]),
        ("op 5 maart 2020", [date(2020, 3, 5)]),
        ("2020-02-30 and 31.02.2020 never come", []),
        ("version 12.10 of 2012", []),
    ],
)
def test_days_are_read_in_six_languages(text, days):
    assert days_in(text) == days


@pytest.mark.parametrize(
    ("path", "title", "facts", "expected"),
    [
        ("/kirjoitukset/", "Kirjoitukset", {"listed": 12}, "hub"),
        ("/seite/2/", "Notizen", {"listed": 10, "link_share": 0.2}, "hub"),
        ("/topics/usability/", "usability", {"listed": 1, "words": 4, "text": "Usability tests at work"}, "hub"),
        ("/topics/ropes/", "Ropes", {"listed": 2, "words": 62, "link_share": 0.2}, "hub"),  # with first words
        ("/news/we-moved/", "We moved", {"listed": 1, "words": 90, "link_share": 0.2}, "article"),
        ("/events/2024-05-03/", "Meetings 2024-05-03", {"listed": 3, "words": 40}, "hub"),
        ("/contact", "Contact", {"listed": 3}, "utility"),
        ("/about/", "About", {"words": 14, "text": "We are two."}, "utility"),
        ("/ueber-uns/", "Über uns", {"menu_share": 0.9, "words": 14, "text": "Wir sind zwei."}, "utility"),
        ("/about/", "About", {"menu_share": 0.9}, "article"),
        ("/about/", "About", {"words": 14, "text": "We are two.", "below": 3}, "article"),
    ],
)
def test_a_page_that_is_read_as_a_list_is_one_in_any_language_and_under_any_address(path, title, facts, expected):
    assert role(path, title, **facts) == expected


def test_the_evidence_is_told():
    page = PageFacts("https://shop.example/impressum", "Impressum", "Impressum")
    assert find_role(page, SITE).why == "its address ends in “impressum” and it is called “Impressum”"


def test_only_what_differs_from_the_usual_is_kept():
    links = role_links({"hub": {"receives": "yes"}})
    assert links[PageRole.HUB] == RoleLinks(Gives.NO, Receives.YES)
    assert differing(links) == {"hub": {"receives": "yes"}}
    assert differing(USUAL) == {}
    assert differing(USUAL, in_shop=True) == {"hub": {"receives": "no"}}
    assert differing(role_links({}, in_shop=True), in_shop=True) == {}
    assert role_links({}) == USUAL


@pytest.mark.parametrize(
    "address",
    [
        *("https://a.example", "https://a.example/", "https://a.example/b", "https://a.example/b/", "https:///b/c"),
        *("https://a.example/de", "https://a.example/de/", "https://a.example/de/b.html", "https://a.example//b//c"),
        *(
            "https://a.example/b/c?d=/e",
            "https://a.example/b/c#/d",
            "https://a.example/b%2Fc/d",
            "https://a.example/b/%64",
        ),
        *(
            "https://a.example/Straße/Übung_1.PHP",
            "https://[a.example/b/c",
            "https://a.example/b/c\td",
            "b/c",
            "/b/c",
            "",
        ),
    ],
)
def test_an_address_is_read_alike_whether_its_folder_is_known_or_not(address):
    assert _path(address) == _read_path(address)
