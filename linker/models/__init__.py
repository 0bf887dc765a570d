"""The core's tables, one module a noun."""

from linker.models.change import Change, ChangeKind
from linker.models.copies import ApartPage, NotTheSame, PageGroup, PageTwin, TwinKind
from linker.models.edge import CandidateEdge, EdgeStatus, RankedBy, RunCandidate, UnallocatedPairs
from linker.models.edge_counts import EdgeCount
from linker.models.page import (
    Block,
    Category,
    EmbeddingModel,
    ExistingLink,
    Page,
    PageEmbedding,
    PageStatus,
    PageTraffic,
    QuerySource,
    SearchQuery,
    TrafficPeriod,
    TrafficSource,
)
from linker.models.page_list import PageList, Pilot
from linker.models.policy import (
    ExclusionRule,
    Placement,
    Rel,
    RoleRule,
    SensitivePage,
    SensitiveRule,
    SensitiveState,
    Side,
    Tier,
)
from linker.models.project import Basis, Membership, Project, QueueOrder, Role
from linker.models.run import Ranker, Run, RunBatch, RunBlock, RunKind, RunStatus

__all__ = [
    "ApartPage",
    "Basis",
    "Block",
    "CandidateEdge",
    "Category",
    "Change",
    "ChangeKind",
    "EdgeCount",
    "EdgeStatus",
    "EmbeddingModel",
    "ExclusionRule",
    "ExistingLink",
    "Membership",
    "NotTheSame",
    "Page",
    "PageEmbedding",
    "PageGroup",
    "PageList",
    "PageStatus",
    "PageTraffic",
    "PageTwin",
    "Pilot",
    "Placement",
    "Project",
    "QuerySource",
    "QueueOrder",
    "RankedBy",
    "Ranker",
    "Rel",
    "Role",
    "RoleRule",
    "Run",
    "RunBatch",
    "RunBlock",
    "RunCandidate",
    "RunKind",
    "RunStatus",
    "SearchQuery",
    "SensitivePage",
    "SensitiveRule",
    "SensitiveState",
    "Side",
    "Tier",
    "TrafficPeriod",
    "TrafficSource",
    "TwinKind",
    "UnallocatedPairs",
]
