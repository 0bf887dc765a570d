"""The core's tables, one module a noun."""

from linker.models.change import Change, ChangeKind
from linker.models.copies import ApartPage, NotTheSame, PageGroup, PageTwin, TwinKind
from linker.models.edge import CandidateEdge, EdgeStatus, LeftOut, RankedBy, RunCandidate
from linker.models.page import (
    Block,
    Category,
    EmbeddingModel,
    ExistingLink,
    Page,
    PageEmbedding,
    PageQuery,
    PageStatus,
    PageTraffic,
    QuerySource,
    TrafficPeriod,
    TrafficSource,
)
from linker.models.page_list import PageList, Pilot
from linker.models.policy import ExclusionRule, Placement, Rel, SensitivePage, SensitiveRule, SensitiveState, Side, Tier
from linker.models.project import Basis, Membership, Project, Role
from linker.models.run import Ranker, Run, RunBatch, RunBlock, RunKind, RunStatus

__all__ = [
    "ApartPage",
    "Basis",
    "Block",
    "CandidateEdge",
    "Category",
    "Change",
    "ChangeKind",
    "EdgeStatus",
    "EmbeddingModel",
    "ExclusionRule",
    "ExistingLink",
    "LeftOut",
    "Membership",
    "NotTheSame",
    "Page",
    "PageEmbedding",
    "PageGroup",
    "PageList",
    "PageQuery",
    "PageStatus",
    "PageTraffic",
    "PageTwin",
    "Pilot",
    "Placement",
    "Project",
    "QuerySource",
    "RankedBy",
    "Ranker",
    "Rel",
    "Role",
    "Run",
    "RunBatch",
    "RunBlock",
    "RunCandidate",
    "RunKind",
    "RunStatus",
    "SensitivePage",
    "SensitiveRule",
    "SensitiveState",
    "Side",
    "Tier",
    "TrafficPeriod",
    "TrafficSource",
    "TwinKind",
]
