"""The names that pages of a role go by, in German, English, French, Spanish, Italian and Dutch.

A name stands for the same words in an address ("contact-us", "contactus") and in a title ("Contact us").
"""

from __future__ import annotations

import re
import unicodedata

# No article is called so: the last part of an address is enough.
CLEAR_UTILITY = """
impressum, imprint, legal notice, legal notices, site notice, anbieterkennzeichnung,
mentions légales, aviso legal, note legali, colofon, colophon, juridische kennisgeving,
datenschutz, datenschutzerklärung, datenschutzhinweis, datenschutzhinweise, datenschutzbestimmungen,
privacy policy, privacy notice, privacy statement, cookie policy, cookie notice, cookie settings, cookie-richtlinie,
cookie-einstellungen, privacy and cookies, politique de confidentialité, politique de cookies, protection des données,
données personnelles, política de privacidad, política de cookies, protección de datos, privacidad,
informativa privacy, informativa sulla privacy, privacy e cookie, politica sulla privacy, informativa sui cookie,
privacybeleid, privacyverklaring, cookiebeleid, cookieverklaring,
terms of service, terms of use, terms and conditions, terms conditions, conditions of use, general terms,
nutzungsbedingungen, agb, allgemeine geschäftsbedingungen, widerruf, widerrufsbelehrung, widerrufsrecht,
widerrufsformular, conditions générales, conditions générales de vente, conditions générales d’utilisation,
conditions d’utilisation, cgv, cgu, términos y condiciones, condiciones de uso, condiciones generales,
términos de uso, termini e condizioni, condizioni d’uso, condizioni generali, condizioni di vendita,
algemene voorwaarden, gebruiksvoorwaarden, haftungsausschluss,
contact us, contact form, kontaktformular, contactez-nous, nous contacter, contáctenos, contáctanos, contattaci,
contatti, contacteer ons, neem contact op, contactformulier, formulaire de contact, formulario de contacto,
my account, forgot password, lost password, reset password, create account,
mein konto, kundenkonto, benutzerkonto, passwort vergessen, mon compte, se connecter, mot de passe oublié,
mi cuenta, iniciar sesión, il mio account, mijn account, inloggen, wachtwoord vergeten, wp-login,
shopping cart, shopping basket, warenkorb, einkaufswagen, panier, carrito, cesta de la compra, carrello,
winkelwagen, winkelmandje, checkout, wishlist, wish list, merkzettel, wunschliste, liste de souhaits,
lista de deseos, lista dei desideri, verlanglijst,
site map, html sitemap, plan du site, mapa del sitio, mapa web, mappa del sito, seitenübersicht,
page not found, seite nicht gefunden, page introuvable, página no encontrada, pagina non trovata,
pagina niet gevonden, 404 not found, error 404, 404 error,
search results, suchergebnisse, résultats de recherche, resultados de búsqueda, risultati della ricerca, zoekresultaten,
accessibility statement, erklärung zur barrierefreiheit, barrierefreiheitserklärung, déclaration d’accessibilité,
declaración de accesibilidad, dichiarazione di accessibilità, toegankelijkheidsverklaring
"""
# Also subjects that people write about: address and name have to say so both.
MAYBE_UTILITY = """
contact, kontakt, contacto, contatto, contactgegevens, privacy, confidentialité, terms, legal, disclaimer, rechtliches,
login, logout, log in, log out, sign in, sign up, register, registration, registrieren, anmelden, anmeldung, account,
konto, compte,
cuenta, connexion, inscription, accedi, acceso, accesso, registro, registrazione, registreren, aanmelden,
cart, basket, bag, kasse, sitemap, 404
"""
# Of the site itself, where there is next to nothing to say; with a text of its own such a page is an article.
ABOUT = """
about, about us, über, über uns, wir über uns, à propos, qui sommes nous, acerca de, quiénes somos, sobre nosotros,
chi siamo, over ons
"""
# Those that are at the top of a site alone.
SEARCHES = "search, suche, recherche, búsqueda, buscar, buscador, ricerca, cerca, zoeken"
# What may come beside such a name and changes nothing.
FILLERS = """
us, the, our, my, your, of, to, at, and, for, with, form, page, policy, team, support, customer, service, services,
site, website, here, uns, unser, unsere, mit, zu, zum, und, der, die, das, seite, formular, anfahrt, shop, nous, notre,
avec, et, de, du, des, la, le, les, l, à, con, y, e, di, del, della, ci, noi, nostro, ons, onze, met, van, en, het,
not, found
"""
# Whatever lies below is part of the shop's or the system's own machinery.
MACHINERY = "checkout, warenkorb, my-account, mein-konto, mon-compte, mi-cuenta, mijn-account, wp-login, wp-admin"
# What may come above a utility page, beside the language.
ABOVE_UTILITY = """
about, about us, über uns, uns, info, infos, information, informationen, pages, page, site, service, services, company,
unternehmen, policies, policy, legal, rechtliches, help, hilfe, aide, ayuda, aiuto, hulp, support, account, customer,
user, users, qui sommes nous, à propos, chi siamo, quiénes somos, over ons, kundenservice, customer service, content,
shop, node
"""
# Whatever lies directly below lists other pages.
LISTS = """
category, categories, product-category, tag, tags, product-tag, archive, archives, kategorie, kategorien,
schlagwort, schlagworte, schlagwörter, rubrik, rubriken, archiv, catégorie, catégories, étiquette, étiquettes, rubrique,
rubriques, categoría, categorías, etiqueta, etiquetas, archivo, archivos, categoria, categorie, etichetta, archivio,
categorieën, archief
"""
# The same where the page has links, or pages below it.
MAYBE_LISTS = "author, authors, autor, autoren, auteur, auteurs, autore, label, labels, collections, topics, themen"
# A page of this name with many pages below it lists them.
LIST_NAMES = """
index, contents, table of contents, overview, archive, archives, archiv, blog, news, articles, all articles, posts,
resources, topics, tags, categories, events, guides, press, magazine, library, products, publications, tutorials,
inhalt, inhaltsverzeichnis, übersicht, aktuelles, neuigkeiten, nachrichten, artikel, beiträge, themen, kategorien,
veranstaltungen, termine, ratgeber, presse, magazin, produkte, anleitungen,
actualités, nouvelles, articles, sujets, catégories, événements, guides, presse, produits, sommaire,
noticias, artículos, temas, categorías, eventos, guías, prensa, productos, índice,
notizie, articoli, argomenti, categorie, eventi, guide, stampa, prodotti, indice,
nieuws, artikelen, onderwerpen, categorieën, evenementen, gidsen, pers, producten, overzicht
"""
EVENTS = """
event, events, veranstaltung, veranstaltungen, termin, termine, webinar, webinars, webinare, événement, événements,
évènement, évènements, evento, eventos, eventi, evenement, evenementen, agenda, calendar, kalender, calendrier,
calendario, meetups, seminar, seminars, seminare
"""
EVENT_NAMES = """
webinar, workshop, meetup, meeting, conference, seminar, hackathon, symposium, teamtreffen, treffen, stammtisch,
konferenz, tagung, messe, veranstaltung, termin, vortrag, webinaire, conférence, atelier, réunion, salon, taller,
conferencia, reunión, seminario, convegno, incontro, fiera, bijeenkomst, congres, lezing
"""
# Of an event that is written about, not announced.
LOOKS_BACK = """
recap, report, summary, minutes, recording, transcript, slides, lessons, takeaways, retrospective, review, wrap, notes,
protokoll, niederschrift, rückblick, nachlese, bericht, nachbericht, aufzeichnung, zusammenfassung, compte, rendu,
verbal, bilan, retour, resumen, crónica, acta, verbale, riassunto, resoconto, notulen, verslag, terugblik, samenvatting,
log
"""
# The same of several, in the name of a folder: in a title they may be what an event is about.
LOOKS_BACK_FOLDERS = """
recaps, reports, summaries, recordings, transcripts, protokolle, niederschriften, berichte, aufzeichnungen, comptes,
rendus, verbaux, actas, verbali, resoconti, verslagen
"""
# What such words end with where a language writes several as one: Sitzungsprotokoll, Tagungsbericht, vergaderverslag.
LOOKS_BACK_ENDINGS = "protokoll, protokolle, niederschrift, bericht, berichte, rückblick, verslag, verslagen"
# With what minutes of a meeting begin, alone on a line or before a colon: who was there.
WHO_WAS_THERE = """
attendees, in attendance, present, members present, also present, apologies, absent, minutes taken by, note taker,
anwesend, anwesende, abwesend, entschuldigt, protokollführung, protokollant, protokollführer, présents,
étaient présents, absents, excusés, secrétaire de séance, asistentes, ausentes, presenti, assenti, aanwezig, afwezig,
notulist
"""
# A text that announces a table, a listing or a form, which the crawl did not take for text.
ANNOUNCES = """
following, below, folgende, folgenden, folgendes, unten, suivant, suivante, suivants, suivantes, siguiente,
siguientes, seguente, seguenti, volgende, hieronder
"""
AFTERWARDS = """
the slides, the recording, transcript, recap, was recorded, watch the video, view the video, die folien, aufzeichnung,
mitschnitt, on demand, watch now, jetzt ansehen, enregistrement, grabación, registrazione, opname
"""
PRODUCTS = """
p, dp, product, products, produkt, produkte, produit, produits, producto, productos, prodotto, prodotti, producten, item
"""
BUYING = """
add to cart, add to basket, add to bag, buy now, in den warenkorb, in den einkaufswagen, jetzt kaufen,
ajouter au panier, añadir al carrito, añadir a la cesta, aggiungi al carrello, in winkelwagen, in winkelmand
"""
MONTHS = (
    "january januar jänner janvier enero gennaio januari jan",
    "february februar feber février febrero febbraio februari feb febr",
    "march märz mars marzo maart mar mär mrz",
    "april avril abril aprile apr avr abr",
    "may mai mayo maggio mei mag",
    "june juni juin junio giugno jun giu",
    "july juli juillet julio luglio jul lug",
    "august août agosto augustus aug ago",
    "september septembre septiembre settembre sept sep set",
    "october oktober octobre octubre ottobre oct okt ott",
    "november novembre noviembre nov",
    "december dezember décembre diciembre dicembre dec dez déc dic",
)
# What names of months and years of an archive have beside them.
AROUND_DATES = """
archive, archives, archived, archiv, archivo, archivos, archivio, archief, posts, news, beiträge, artikel,
articles, entradas, articoli, berichten, month, monthly, year, yearly, day, daily, monat, monats, jahr, jahres, tag,
mois, année, jour, mes, año, día, mese, anno, giorno, maand, jaar, dag, of, for, from, in, by, the, to, im, vom, von,
aus, für, und, and, de, del, du, des, le, la, el, di, dell, van, het, bis
"""
LANGUAGES = frozenset(
    [
        "de",
        "en",
        "fr",
        "es",
        "it",
        "nl",
        "pt",
        "pl",
        "da",
        "sv",
        "nb",
        "no",
        "fi",
        "cs",
        "sk",
        "sl",
        "hu",
        "ro",
        "bg",
        "el",
        "et",
        "lv",
        "lt",
        "hr",
        "tr",
        "ru",
        "uk",
        "ja",
        "zh",
        "ko",
    ]
)

_WORDS = re.compile(r"[^\W_]+")
_LIGATURES = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "’": "'", "‘": "'"})
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def plain(text: str) -> str:
    """In small letters and without accents, words apart by one space."""
    text = text.lower().translate(_LIGATURES)
    if not text.isascii():
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return " ".join(_WORDS.findall(text))


def phrases(text: str) -> frozenset[str]:
    """The names of a list, plain; those with umlauts in both ways to write these."""
    names = [name.strip() for name in text.split(",")]
    return frozenset(plain(form) for name in names for form in (name, name.lower().translate(_UMLAUTS)))


def keys(text: str) -> frozenset[str]:
    """The same without spaces, as addresses may have them."""
    return frozenset(name.replace(" ", "") for name in phrases(text))
