"""The columns of an edge: the one list that storing a run's edges, decisions and the export use.

linker.matching.edge_writer copies rows in and refreshes what an earlier run wrote, review.decisions keeps what an
editor saw, and review.releases.columns writes the file. Who adds a column to CandidateEdge adds it here, or names it in
NOT_LISTED with the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum


class Form(StrEnum):
    """The type of a column, as PostgreSQL calls it."""

    BIGINT = "bigint"
    INTEGER = "integer"
    SMALLINT = "smallint"
    FLOAT = "double precision"
    BOOLEAN = "boolean"
    TIME = "timestamp with time zone"
    VARCHAR = "character varying"
    TEXT = "text"
    JSON = "jsonb"
    ARRAY = "ARRAY"

    @property
    def is_wide(self) -> bool:
        """Whether values are of any length: of a row that is sorted, these columns stand last."""
        return self in (Form.TEXT, Form.JSON, Form.ARRAY)


class Value(Enum):
    """Where a match run takes the value of a column from when it proposes a pair."""

    OF_PAIR = "differs from pair to pair"
    OF_RUN = "is the same for all edges of a run"
    NOT_OF_RUN = "the column's default, until a person or a later step writes it"


class Refresh(Enum):
    """When a run that proposes a pair again overwrites the column."""

    NEVER = "what it was first stays"
    ALWAYS = "whatever people decided"
    UNDECIDED = "on an open suggestion"
    UNEDITED = "on an open suggestion whose anchor no editor wrote"


@dataclass(frozen=True)
class EdgeColumn:
    """A column of linker_candidateedge: its name, its form, and whether it may be null.

    `seen`: each decision copies it, as `seen_` and its name. `exported`: the column of the full export that holds it,
    "" where the export has none of its own for it.
    """

    name: str
    form: Form
    value: Value
    refresh: Refresh = Refresh.NEVER
    nullable: bool = False
    seen: bool = False
    exported: str = ""


def _of_pair(name: str, form: Form, refresh: Refresh = Refresh.UNDECIDED, **more: bool | str) -> EdgeColumn:
    return EdgeColumn(name, form, Value.OF_PAIR, refresh, **more)  # type: ignore[arg-type]


EDGE_COLUMNS = (
    EdgeColumn("project_id", Form.BIGINT, Value.OF_RUN),
    _of_pair("source_id", Form.BIGINT, Refresh.NEVER),
    _of_pair("target_id", Form.BIGINT, Refresh.NEVER),
    EdgeColumn("status", Form.VARCHAR, Value.OF_RUN),
    EdgeColumn("reviewed", Form.BOOLEAN, Value.NOT_OF_RUN),
    EdgeColumn("rejected_for", Form.VARCHAR, Value.NOT_OF_RUN),
    EdgeColumn("stale", Form.BOOLEAN, Value.OF_RUN, Refresh.ALWAYS),
    # review.live writes it.
    EdgeColumn("regressed", Form.BOOLEAN, Value.NOT_OF_RUN),
    EdgeColumn("section", Form.BIGINT, Value.NOT_OF_RUN),
    # linker.matching.suppressions writes it, also when a run is over.
    EdgeColumn("suppressed_by_id", Form.BIGINT, Value.NOT_OF_RUN, nullable=True),
    # linker.matching.safety does, in the same way.
    EdgeColumn("barred_by_id", Form.BIGINT, Value.NOT_OF_RUN, nullable=True),
    # linker.matching.full_pages does.
    EdgeColumn("capped_at", Form.TIME, Value.NOT_OF_RUN, nullable=True),
    # linker.matching.away does.
    EdgeColumn("away_at", Form.TIME, Value.NOT_OF_RUN, nullable=True),
    # review.decisions and review.second_person do.
    EdgeColumn("waits", Form.BOOLEAN, Value.NOT_OF_RUN),
    EdgeColumn("second_by_id", Form.INTEGER, Value.NOT_OF_RUN, nullable=True),
    # Where it comes from.
    EdgeColumn("run_id", Form.BIGINT, Value.OF_RUN, Refresh.UNDECIDED, seen=True, exported="run"),
    _of_pair("generators", Form.ARRAY, exported="generators"),
    EdgeColumn("ranked_by", Form.VARCHAR, Value.OF_RUN, Refresh.UNDECIDED, seen=True, exported="ranked_by"),
    _of_pair("block_id", Form.BIGINT, nullable=True),
    _of_pair("level", Form.SMALLINT, exported="level"),
    _of_pair("similarity", Form.FLOAT, seen=True, exported="similarity"),
    _of_pair("score", Form.FLOAT, seen=True, exported="score"),
    _of_pair("probability", Form.FLOAT, nullable=True, seen=True, exported="probability"),
    _of_pair("quantile", Form.FLOAT, seen=True, exported="quantile"),
    _of_pair("why", Form.TEXT, exported="why"),
    _of_pair("evidence", Form.JSON),
    _of_pair("donor_best", Form.FLOAT),
    _of_pair("need", Form.FLOAT),
    _of_pair("lacks", Form.VARCHAR),
    _of_pair("authority", Form.FLOAT, nullable=True),
    _of_pair("worth", Form.FLOAT),
    _of_pair("donor_worth", Form.FLOAT),
    EdgeColumn("created_at", Form.TIME, Value.OF_RUN),
    EdgeColumn("updated_at", Form.TIME, Value.OF_RUN, Refresh.ALWAYS),
    # How it reads by the project's tiers. A decision keeps the name of the tier, and the export holds it.
    _of_pair("tier_id", Form.BIGINT, nullable=True),
    _of_pair("placement", Form.VARCHAR, seen=True, exported="placement"),
    _of_pair("rel", Form.VARCHAR, exported="rel"),
    EdgeColumn("sensitive", Form.VARCHAR, Value.OF_RUN),
    # Its place in the donor's text.
    _of_pair("span_start", Form.INTEGER, nullable=True, seen=True, exported="anchor_start"),
    _of_pair("span_end", Form.INTEGER, nullable=True, seen=True, exported="anchor_end"),
    _of_pair("sentence", Form.TEXT, exported="sentence"),
    _of_pair("section_heading", Form.TEXT, exported="section_heading"),
    _of_pair("body_hash", Form.BIGINT, nullable=True),
    _of_pair("content_gap", Form.BOOLEAN, seen=True, exported="content_gap"),
    # linker.matching.content_gaps writes them when the run is over.
    EdgeColumn("paragraph_start", Form.INTEGER, Value.NOT_OF_RUN, nullable=True, exported="paragraph_start"),
    EdgeColumn("paragraph_end", Form.INTEGER, Value.NOT_OF_RUN, nullable=True, exported="paragraph_end"),
    EdgeColumn("paragraph_heading", Form.TEXT, Value.NOT_OF_RUN, exported="paragraph_heading"),
    EdgeColumn("paragraph_hash", Form.BIGINT, Value.NOT_OF_RUN, nullable=True),
    # review.decisions writes them.
    EdgeColumn("own_line", Form.BOOLEAN, Value.NOT_OF_RUN),
    EdgeColumn("new_sentence", Form.TEXT, Value.NOT_OF_RUN, exported="new_sentence"),
    # Its words. A decision keeps them under names of its own, before and after.
    _of_pair("anchor", Form.TEXT, Refresh.UNEDITED, exported="anchor_text"),
    _of_pair("anchor_source", Form.VARCHAR, Refresh.UNEDITED, exported="anchor_source"),
    _of_pair("anchor_alternatives", Form.JSON),
    EdgeColumn("edited", Form.BOOLEAN, Value.OF_RUN, exported="edited"),
)
NOT_LISTED = {"id": "PostgreSQL counts it"}

# What a match run writes, in the order in which it writes it.
PAIR_COLUMNS = tuple(column for column in EDGE_COLUMNS if column.value is Value.OF_PAIR)
RUN_COLUMNS = tuple(column for column in EDGE_COLUMNS if column.value is Value.OF_RUN)
SEEN_COLUMNS = tuple(column.name for column in EDGE_COLUMNS if column.seen)
EXPORTED_COLUMNS = {column.exported: column for column in EDGE_COLUMNS if column.exported}
