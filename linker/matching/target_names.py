"""The names of a run's targets: the anchors that come from the targets themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linker.embedding.service import site_template
from linker.engine.anchors.candidates import AnchorCandidate, anchor_candidates
from linker.engine.anchors.diversity import word_set
from linker.engine.anchors.own_texts import TargetText
from linker.engine.patterns import compile_pattern
from linker.engine.roles.policy import Receives
from linker.matching.search_queries import target_queries
from linker.matching.spool import Spool
from linker.models.querysets import PRESENT, sql
from linker.models.suppression import ruled_out_words
from linker.pages.languages import usual_language
from linker.pages.roles import links_by_role, pages_that
from linker.storage.cursors import stream

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linker.engine.anchors.search_queries import Query
    from linker.engine.text.template import Template
    from linker.models import Project


class TargetNames:
    """The anchors of each target, the best first. They are made when it first occurs, and read from a file later."""

    def __init__(self, project: Project, targets: NDArray[np.int64], template: Template | None = None) -> None:
        """`targets` int64 [n], ascending: all that will ever be asked for. `template`: what the site's titles share,
        where it is known."""
        self.project = project
        self.template, self.usual_language = template or site_template(project), usual_language(project)
        self.patterns = [compile_pattern(pattern) for pattern in project.title_patterns]
        self.shared = _shared_names(project)
        roles = links_by_role(project)
        # Pages that are linked to under their own names alone.
        self.by_name = pages_that(project, [role for role, one in roles.items() if one.receives is Receives.NAME])
        self.ruled_out = ruled_out_words(project)
        self.spool = Spool(targets)
        self.spooled_at: dict[int, tuple[int, int]] = {}
        self.target_texts: dict[int, list[Any]] = {}
        self.queries: dict[int, list[Query]] = {}
        self.known: dict[int, tuple[str, list[AnchorCandidate]]] = {}  # language and names

    def read(self, targets: NDArray[np.int64]) -> None:
        """Reads what the names of these targets are made of, where they are not known yet, and forgets those before."""
        if self.target_texts:
            self.spool.put(
                {
                    page: (self.known[page][0], [tuple(name) for name in self.known[page][1]])
                    for page in self.target_texts.keys() & self.known.keys()
                }
            )
        self.known = {}
        self.spooled_at = self.spool.where(targets)
        new = [target for target in targets.tolist() if target not in self.spooled_at]
        self.queries = target_queries(new) if new and self.project.query_blend else {}
        self.target_texts = {}
        if new:
            columns = "id, url, title, h1, headings, description, own_language"
            for page, *texts in stream(
                "names", f"SELECT {columns} FROM linker_page WHERE id = ANY(%s)", [new], size=len(new) + 1
            ):
                self.target_texts[page] = texts

    def of(self, target: int) -> list[AnchorCandidate]:
        """The anchors of a target that was read."""
        return self._known(target)[1]

    def may_say(self, target: int, words: str) -> bool:
        """Whether no editor has ruled out these words for the target."""
        return target not in self.ruled_out or word_set(words) not in self.ruled_out[target]

    def language_of(self, target: int) -> str:
        return self._known(target)[0]

    def _known(self, target: int) -> tuple[str, list[AnchorCandidate]]:
        if target not in self.known:
            if target in self.spooled_at:
                language, names = self.spool.read(self.spooled_at[target])
                self.known[target] = language, list(map(AnchorCandidate._make, names))
            else:
                self.known[target] = self._made(target)
        return self.known[target]

    def _made(self, page: int) -> tuple[str, list[AnchorCandidate]]:
        url, title, h1, headings, text, language = self.target_texts[page]
        language = language or self.usual_language
        # A name that several pages have tells none of them apart.
        if h1 in self.shared and title and title not in self.shared:
            h1 = ""
        elif title in self.shared and h1 and h1 not in self.shared:
            title = ""
        names = anchor_candidates(
            TargetText(url=url, title=title, h1=h1, headings=headings, description=text, language=language),
            template=self.template,
            patterns=self.patterns,
            banned=self.project.banned_anchors,
            max_length=self.project.anchor_max_length,
            queries=self.queries.get(page, ()),
            query_blend=self.project.query_blend,
        )
        if page in self.by_name:
            names = [name for name in names if name.whole] or names[:1]
        # Where all are ruled out, one is kept, of which no link is made.
        names = [name for name in names if self.may_say(page, name.text)] or names[:1]
        return language, names


def _shared_names(project: Project) -> frozenset[str]:
    """Titles and first headings that several of the project's pages have."""
    names: set[str] = set()
    for column in ("title", "h1"):
        rows = stream(
            "shared",
            f"SELECT {column} FROM linker_page WHERE project_id = %s AND {sql(PRESENT)} AND {column} <> '' "
            f"GROUP BY {column} HAVING count(*) > 1",
            [project.pk],
        )
        names.update(name for (name,) in rows)
    return frozenset(names)
