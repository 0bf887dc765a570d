"""The core's tables, one module a noun."""

from linker.models.edge import CandidateEdge, EdgeStatus, LeftOut, RankedBy, RunCandidate
from linker.models.page import (
    Category,
    EmbeddingModel,
    ExistingLink,
    Page,
    PageEmbedding,
    PageQuery,
    PageStatus,
    QuerySource,
)
from linker.models.policy import ExclusionRule, Placement, Rel, SensitiveCategory, Side, Tier
from linker.models.project import Basis, Membership, Project, Role
from linker.models.run import Ranker, Run, RunBatch, RunBlock, RunKind, RunStatus

__all__ = [
    "Basis",
    "CandidateEdge",
    "Category",
    "EdgeStatus",
    "EmbeddingModel",
    "ExclusionRule",
    "ExistingLink",
    "LeftOut",
    "Membership",
    "Page",
    "PageEmbedding",
    "PageQuery",
    "PageStatus",
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
    "SensitiveCategory",
    "Side",
    "Tier",
]
