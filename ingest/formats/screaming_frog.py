"""Screaming Frog's exports: names of columns and files, and the values cells have, in the interface's languages.

Names come and go with versions and settings: they are looked up by name, first match first.
"""

from __future__ import annotations

import re

from linker.models import Block

PAGE_FILES = frozenset(
    {"internal_html.csv", "internal_all.csv", "interne_html.csv", "interne_tous.csv", "intern_html.csv"}
    | {"intern_alle.csv", "internos_html.csv", "internos_todos.csv", "interno_html.csv", "interno_tutti.csv"}
    | {"pages.csv"}
)
LINK_FILES = frozenset({"all_inlinks.csv", "all_outlinks.csv"})

# The columns of a page's address, the best first: in list mode, Address may be what the listed one led to. If a row
# leaves one empty, the next one counts; some versions write the column of encoded addresses and never fill it.
ADDRESSES = (
    *("Original Url", "URL Encoded Address", "Adresse URL encodée", "URL-codierte Adresse"),
    *("Dirección URL codificada", "Indirizzo URL codificato", "Address", "Adresse", "Dirección", "Indirizzo"),
)
PAGE_COLUMNS = {
    "url": ADDRESSES,
    "content_type": (
        *("Content Type", "Type de contenu", "Inhaltstyp", "Content-Typ", "Tipo de contenido", "Tipo di contenuto"),
    ),
    "status_code": (
        *("Status Code", "Code de statut", "Code HTTP", "Code de réponse", "Statuscode", "Status-Code"),
        *("Código de estado", "Código de respuesta", "Codice di stato", "Codice di risposta"),
    ),
    "indexability": ("Indexability", "Indexabilité", "Indexierbarkeit", "Indexabilidad", "Indicizzabilità"),
    "indexability_status": (
        "Indexability Status",
        "Statut d'indexabilité",
        "Statut de l'indexabilité",
        "Indexierbarkeitsstatus",
        "Indexierbarkeits-Status",
        "Status der Indexierbarkeit",
        "Estado de indexabilidad",
        "Stato di indicizzabilità",
        "Stato dell'indicizzabilità",
    ),
    "title": ("Title 1", "Titre 1", "Titel 1", "Título 1", "Titolo 1", "Seitentitel 1", "Balise title 1"),
    "h1": ("H1-1", "H1"),
    "headings": ("H2",),
    "description": (
        *("Meta Description 1", "Meta-Beschreibung 1", "Méta-description 1", "Meta descripción 1"),
        *("Meta descrizione 1",),
    ),
    "canonical_link": (
        "Canonical Link Element 1",
        "Élément de lien en version canonique 1",
        "Élément de lien canonique 1",
        "Lien canonique 1",
        "Canonical-Link-Element 1",
        "Kanonisches Linkelement 1",
        "Elemento de enlace canónico 1",
        "Elemento di link canonical 1",
    ),
    "redirect_url": (
        *("Redirect URL", "Redirect URI", "URL de redirection", "Weiterleitungs-URL", "URL de redirección"),
        *("URL di reindirizzamento",),
    ),
    "language": ("Language", "Langue", "Sprache", "Idioma", "Lingua"),
    "word_count": (
        *("Word Count", "Nombre de mots", "Wortanzahl", "Wörter", "Recuento de palabras", "Conteggio delle parole"),
    ),
    "crawl_depth": (
        *("Crawl Depth", "Crawl profondeur", "Profondeur de crawl", "Crawl-Tiefe", "Crawltiefe"),
        *("Nivel de profundidad", "Profundidad de rastreo", "Profondità di scansione", "Level"),
    ),
    "last_modified": (
        *("Last Modified", "Dernière modification", "Zuletzt geändert", "Última modificación", "Ultima modifica"),
    ),
    "body": ("Content", "Main Content", "Page Text", "Contenu", "Inhalt"),
    "breadcrumb": ("Breadcrumb_Name", "Breadcrumb Name", "Breadcrumbs", "Breadcrumb", "Fil d'Ariane", "Brotkrumen"),
    "clicks": ("Clicks", "GSC Clicks", "Clics", "Klicks"),
    "impressions": ("Impressions", "Impressionen", "Impresiones"),
    "position": ("Position", "Average Position", "Avg. Position", "Position moyenne", "Durchschnittliche Position"),
}
LINK_COLUMNS = {
    "source": ("Source", "From", "Quelle", "Fuente", "Origen", "Origine", "Fonte"),
    "target": ("Destination", "To", "Ziel", "Destino", "Destinazione"),
    "anchor": (
        *("Anchor", "Anchor Text", "Ancrage", "Ancre", "Texte d'ancrage", "Anker", "Ankertext", "Ancla"),
        *("Texto de anclaje", "Texto ancla", "Testo di ancoraggio", "Testo ancora", "Ancora"),
    ),
    "alt": ("Alt Text", "Texte Alt", "Texte alternatif", "Alt-Text", "Texto ALT", "Texto alternativo", "Testo alt"),
    "type": ("Type", "Typ", "Tipo"),
    "follow": ("Follow", "Suivi", "Suivre", "Folgen", "Seguir", "Segui"),
    "rel": ("Rel", "Attribut rel"),
    "link_path": (*("Link Path", "Chemin du lien", "Linkpfad", "Link-Pfad", "Ruta del enlace", "Percorso del link"),),
    "link_position": (
        *("Link Position", "Position du lien", "Linkposition", "Link-Position", "Posición del enlace"),
        *("Posizione del link",),
    ),
}

LINK_TYPES = frozenset(
    {"hyperlink", "href", "ahref", "a", "hyperlien", "hyperlinks", "hipervínculo", "hiperenlace", "enlace"}
    | {"collegamento ipertestuale", "link", "lien"}
)
# Positions as the crawler's interface names them, and as people name their own.
POSITIONS = {
    Block.CONTENT: ("content", "contenu", "inhalt", "contenido", "contenuto", "conteúdo", "inhoud", "body", "main"),
    Block.ASIDE: (
        *("aside", "sidebar", "side bar", "barre latérale", "encadré", "seitenleiste", "randspalte", "barra lateral"),
        *("barra laterale", "zijbalk"),
    ),
    Block.HEADER: (
        *("header", "en-tête", "entête", "kopfzeile", "kopfbereich", "encabezado", "cabecera", "intestazione"),
        *("testata", "cabeçalho", "koptekst"),
    ),
    Block.FOOTER: (
        *("footer", "pied de page", "fußzeile", "fusszeile", "fußbereich", "pie de página", "pie"),
        *("piè di pagina", "piè pagina", "rodapé", "voettekst"),
    ),
    Block.NAVIGATION: (
        *("navigation", "nav", "menu", "menü", "menú", "navegación", "navigazione", "navegação", "navigatie"),
        *("breadcrumb", "breadcrumbs", "fil d'ariane", "brotkrumen", "migas de pan", "briciole di pane"),
    ),
}
_BLOCKS = {"list": Block.LIST} | {name: block for block, names in POSITIONS.items() for name in names}
_BREADCRUMB = re.compile(r"breadcrumb|brotkrumen|fil-d-?ariane", re.IGNORECASE)
_NUMBERED = re.compile(r"/ol(?:\[[^][]*\])?/li\b", re.IGNORECASE)
_ARTICLE = re.compile(r"/article\b", re.IGNORECASE)
_ELEMENT = re.compile(r"/(nav|footer|aside|header)\b", re.IGNORECASE)
_CLASS = re.compile(r"[@.](?:class|id)=['\"][^'\"]*\b(nav|navbar|menu|footer|sidebar)\b", re.IGNORECASE)
# What a path holds, the first that is there counting: a menu in a header or sidebar is a menu.
_PARTS = (
    (Block.NAVIGATION, frozenset({"nav", "navbar", "menu"})),
    (Block.FOOTER, frozenset({"footer"})),
    (Block.ASIDE, frozenset({"aside", "sidebar"})),
    (Block.HEADER, frozenset({"header"})),
)
_SKIP_LINK = re.compile(
    r"(?:skip|jump) (?:to|past|over)\b|skip nav|(?:aller|passer|accéder) (?:directement )?au (?:contenu|menu)"
    r"|zum inhalt\b|(?:saltar|ir) al contenido|(?:vai|salta) al contenuto",
    re.IGNORECASE,
)
SKIP_LINK_STARTS = "sjapzivſıİ"  # what the above may begin with, in small letters
_ASSET = re.compile(
    r"\.(?:js|mjs|css|png|jpe?g|gif|svg|webp|avif|ico|woff2?|ttf|eot|pdf|zip|mp[34]|webm|json|xml|txt|map)(?:[?#]|$)",
    re.IGNORECASE,
)


_CONTENT_TYPE = re.compile(r"(?:text|image|application|font|video|audio)/[\w.+-]+\s*(?:;|$)", re.IGNORECASE)
# As above, without what may be a page of its own: documents, feeds.
_PICTURE = re.compile(
    r"\.(?:js|mjs|css|png|jpe?g|gif|svg|webp|avif|ico|bmp|tiff?|woff2?|ttf|eot|mp[34]|webm|mov|map)(?:[?#]|$)",
    re.IGNORECASE,
)


def is_asset(address: str) -> bool:
    """Whether an address is that of a picture, a script, a style, a font or a film, going by its ending."""
    return _PICTURE.search(address) is not None


def is_content_type(text: str) -> bool:
    return _CONTENT_TYPE.match(text) is not None


def is_html(content_type: str) -> bool:
    return content_type.lstrip().lower().startswith(("text/html", "application/xhtml"))


def is_page(content_type: str, status_code: int | None, address: str) -> bool:
    """Whether a row of `internal_all` is a page: HTML, or a redirect or error whose address is not a file's.

    Scripts, styles and images are not. A redirect often states no content type.
    """
    if content_type:
        return is_html(content_type)
    answered = status_code is not None and 200 <= status_code < 300
    return not answered and _ASSET.search(address) is None


def block(position: str | None, path: str) -> Block:
    """Where a link stands. `position` is None where the file does not say.

    `Content` is what the crawler says when no rule of its own matched, so the path has the last word there: of a
    `nav`, `footer`, `aside` or `header`, of a breadcrumb, which is navigation, and of a numbered list of links. Those
    are breadcrumbs without a name, as themes make them, unless they are in an article, where this cannot be told. Names
    of classes are only believed where there is no position at all.
    """
    if _BREADCRUMB.search(path):
        return Block.NAVIGATION
    said = None if position is None else _BLOCKS.get(position.strip().casefold().replace("’", "'"))
    if said not in (None, Block.CONTENT):
        return said
    parts = {name.casefold() for name in _ELEMENT.findall(path)}
    if position is None:
        parts |= {name.casefold() for name in _CLASS.findall(path)}
    for part, names in _PARTS:
        if parts & names:
            return part
    if _NUMBERED.search(path):
        return Block.UNKNOWN if _ARTICLE.search(path) else Block.NAVIGATION
    return Block.CONTENT if position is None or said is not None else Block.UNKNOWN


def is_skip_link(text: str) -> bool:
    return _SKIP_LINK.match(text) is not None
