"""Whether pages that were fetched by themselves are the pages of the site at all: a login form, a notice that the shop
is closed or another language may stand at every address, and answer 200."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingest.kinds.base import SHRINK_FROM
from ingest.kinds.sql import fetch
from linker.models.querysets import ANSWERED_200, LIVE, sql
from linker.pages.languages import detect_all, language_name

if TYPE_CHECKING:
    from linker.models import Project

HALF = 0.5  # of the pages whose texts are known, in another language
MANY = 0.3  # of them, with one and the same text or with none
SAMPLE = 200  # texts whose language is detected
# Pages whose texts the project knows, and what the stage would put in their place.
_KNOWN = f"""
FROM stage_page s JOIN linker_page p ON p.project_id = %(project)s AND md5(p.canonical_url) = md5(s.canonical_url)
WHERE p.body <> '' AND {sql(ANSWERED_200, "s")} AND {sql(LIVE, "p")}
"""
_BOTH = f"{_KNOWN} AND s.body <> ''"
_REPLACED = "p.body_hash <> hashtextextended(s.body, 0)"
# What stands on every page is left out of texts as the site's template: of a form or a notice the title may be all that
# is left.
_ONE_TEXT = f"""
SELECT sum(known)::bigint, max(replaced), (array_agg(title ORDER BY replaced DESC))[1], sum(replaced)::bigint,
    sum(emptied)::bigint FROM (
    SELECT count(*) AS known, count(*) FILTER (WHERE {_REPLACED}) AS replaced, min(s.title) AS title,
        count(*) FILTER (WHERE s.body = '') AS emptied
    {_KNOWN} GROUP BY CASE WHEN s.body = '' THEN hashtextextended(s.title, 1) ELSE hashtextextended(s.body, 0) END
) texts
"""
_SAMPLE = f"""
SELECT p.detected_language, s.title, s.body, s.language {_BOTH} AND {_REPLACED} AND p.detected_language <> ''
ORDER BY md5(s.canonical_url) LIMIT %(sample)s
"""


def why_doubtful(project: Project) -> str:
    """A sentence where at least three tenths of the texts that the project knows would be replaced by one and the same
    or by none, or half of them by texts in another language; else empty. Reads the stage of an import."""
    values = {"project": project.pk, "sample": SAMPLE}
    [(known, most, title, replaced, emptied)] = fetch(_ONE_TEXT, values)
    if not known or known < SHRINK_FROM:
        return ""
    if most >= MANY * known:
        return (
            f"{most:,} of {known:,} pages whose texts were known have one and the same text now, that of “{title}”: "
            "the site may have shown a login form or a notice in place of its pages."
        )
    if emptied >= MANY * known:
        return (
            f"{emptied:,} of {known:,} pages whose texts were known have none now: the site may have shown a form or a "
            "notice in place of its pages, or have its texts written by scripts now."
        )
    return _other_language(replaced / known, fetch(_SAMPLE, values)) if replaced >= HALF * known else ""


def _other_language(replaced: float, sample: list[tuple[str, str, str, str]]) -> str:
    """The same for languages. `replaced`: the share of all known texts that the sample stands for."""
    if len(sample) < SHRINK_FROM:
        return ""
    before, titles, bodies, said = zip(*sample, strict=True)
    now, _sureness = detect_all(titles, bodies, said)
    turned = [(was, found) for was, found in zip(before, now, strict=True) if found and was != found]
    share = replaced * len(turned) / len(sample)
    if share < HALF:
        return ""
    was, found = max(set(turned), key=turned.count)
    return (
        f"About {share:.0%} of the texts that were known are in another language now, mostly in {language_name(found)} "
        f"instead of {language_name(was)}: the site may answer by where the fetch comes from."
    )
