"""Screaming Frog's exports: names of columns and files, and the values cells have, in the interface's languages.

Names come and go with versions and settings: they are looked up by name, first match first.
"""

from __future__ import annotations

import re

PAGE_FILES = frozenset({"internal_html.csv", "internal_all.csv", "interne_html.csv", "interne_tous.csv", "pages.csv"})
LINK_FILES = frozenset({"all_inlinks.csv", "all_outlinks.csv"})

PAGE_COLUMNS = {
    # In list mode Address may be what the listed URL led to.
    "url": ("Original Url", "URL Encoded Address", "Adresse URL encodée", "URL-codierte Adresse", "Address", "Adresse"),
    "content_type": ("Content Type", "Type de contenu", "Inhaltstyp", "Content-Typ", "Tipo de contenido"),
    "status_code": ("Status Code", "Code de statut", "Code HTTP", "Statuscode", "Status-Code", "Código de estado"),
    "indexability": ("Indexability", "Indexabilité", "Indexierbarkeit", "Indexabilidad", "Indicizzabilità"),
    "indexability_status": (
        "Indexability Status",
        "Statut d'indexabilité",
        "Statut de l'indexabilité",
        "Indexierbarkeitsstatus",
        "Indexierbarkeits-Status",
        "Status der Indexierbarkeit",
        "Estado de indexabilidad",
    ),
    "title": ("Title 1", "Titre 1", "Titel 1", "Título 1", "Seitentitel 1", "Balise title 1"),
    "h1": ("H1-1", "H1"),
    "headings": ("H2",),
    "description": ("Meta Description 1", "Meta-Beschreibung 1", "Méta-description 1", "Meta descripción 1"),
    "canonical_link": (
        "Canonical Link Element 1",
        "Élément de lien en version canonique 1",
        "Élément de lien canonique 1",
        "Lien canonique 1",
        "Canonical-Link-Element 1",
        "Kanonisches Linkelement 1",
    ),
    "redirect_url": ("Redirect URL", "Redirect URI", "URL de redirection", "Weiterleitungs-URL", "URL de redirección"),
    "language": ("Language", "Langue", "Sprache", "Idioma", "Lingua"),
    "word_count": ("Word Count", "Nombre de mots", "Wortanzahl", "Wörter", "Recuento de palabras"),
    "crawl_depth": ("Crawl Depth", "Crawl profondeur", "Profondeur de crawl", "Crawl-Tiefe", "Crawltiefe", "Level"),
    "last_modified": ("Last Modified", "Dernière modification", "Zuletzt geändert", "Última modificación"),
    "body": ("Content", "Main Content", "Page Text", "Contenu", "Inhalt"),
    "breadcrumb": ("Breadcrumb_Name", "Breadcrumb Name", "Breadcrumbs", "Breadcrumb", "Fil d'Ariane", "Brotkrumen"),
    "clicks": ("Clicks", "GSC Clicks", "Clics", "Klicks"),
    "impressions": ("Impressions", "Impressionen", "Impresiones"),
    "position": ("Position", "Average Position", "Avg. Position", "Position moyenne", "Durchschnittliche Position"),
}
LINK_COLUMNS = {
    "source": ("Source", "From", "Quelle", "Origen", "Origine"),
    "target": ("Destination", "To", "Ziel", "Destino", "Destinazione"),
    "anchor": ("Anchor", "Anchor Text", "Ancrage", "Texte d'ancrage", "Anker", "Ankertext", "Texto de anclaje"),
    "alt": ("Alt Text", "Texte Alt", "Texte alternatif", "Alt-Text", "Texto alternativo"),
    "type": ("Type", "Typ", "Tipo"),
    "follow": ("Follow", "Suivi", "Suivre", "Folgen", "Seguir"),
    "rel": ("Rel", "Attribut rel"),
    "link_path": ("Link Path", "Chemin du lien", "Linkpfad", "Link-Pfad", "Ruta del enlace"),
    "link_position": ("Link Position", "Position du lien", "Linkposition", "Link-Position", "Posición del enlace"),
}

LINK_TYPES = frozenset(
    {"hyperlink", "href", "ahref", "a", "hyperlien", "hyperlinks", "hipervínculo", "hiperenlace", "enlace"}
    | {"collegamento ipertestuale", "link", "lien"}
)
BODY_POSITIONS = frozenset({"content", "contenu", "inhalt", "contenido", "contenuto", "conteúdo", "body", "main"})
_TEMPLATE_PATH = re.compile(r"breadcrumb|brotkrumen|fil-d-?ariane|/ol(?:\[[^]]*\])?/li\b", re.IGNORECASE)
_TEMPLATE_PATH_ALONE = re.compile(
    r"/(?:nav|header|footer|aside)\b|[@.](?:class|id)=['\"][^'\"]*\b(?:nav|navbar|menu|footer|sidebar)\b", re.IGNORECASE
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


def in_body(position: str | None, path: str) -> bool:
    """Whether a link stands in the page's text. `position` is None where the file does not say.

    `Content` is what the crawler says when no rule of its own matched, so breadcrumbs and numbered lists of links
    still have to be told by their path.
    """
    if position is not None and position.strip().casefold() not in BODY_POSITIONS:
        return False
    if _TEMPLATE_PATH.search(path):
        return False
    return position is not None or _TEMPLATE_PATH_ALONE.search(path) is None


def is_skip_link(text: str) -> bool:
    return _SKIP_LINK.match(text) is not None
