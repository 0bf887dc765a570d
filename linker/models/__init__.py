"""The core's tables, one module a noun."""

from linker.models.change import Change, ChangeKind
from linker.models.cohort import Cohort, CohortBound
from linker.models.copies import ApartPage, NotTheSame, PageGroup, PageTwin, TwinKind
from linker.models.edge import CandidateEdge, EdgeStatus, RankedBy, RunCandidate, UnallocatedPairs
from linker.models.edge_bands import EdgeBand, Outcome
from linker.models.edge_counts import EdgeCount
from linker.models.gate import Gate
from linker.models.identity import (
    EdgeMove,
    EventOrigin,
    MovedQuery,
    MovedTraffic,
    MoveReason,
    PageAddress,
    PageEvent,
    PageEventKind,
    PageTurn,
)
from linker.models.kept_figures import KeptFigures
from linker.models.kept_run import ChangedDonors, KeptBounds, KeptLinks, KeptRun, LinkChange, RunComparison
from linker.models.known_answer import KnownAnswer
from linker.models.learning import LearningChoice
from linker.models.matched_pages import MatchedPages
from linker.models.notification import MailSettings, Notification, Wanted
from linker.models.page import (
    Block,
    Category,
    CountsBy,
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
from linker.models.people import ExpertSection, Identity, Invitation
from linker.models.policy import (
    CountsAs,
    ExclusionRule,
    LinkRule,
    Placement,
    ReadAs,
    Rel,
    RoleRule,
    SensitiveDue,
    SensitivePage,
    SensitiveRule,
    SensitiveState,
    Side,
    Tier,
)
from linker.models.project import AnchorRepeats, Basis, Membership, Project, QueueOrder, Role
from linker.models.replacement import Replacement, ReplacementEnd
from linker.models.run import Ranker, Run, RunBatch, RunBlock, RunKind, RunStatus
from linker.models.safety import BarredPair, SafetyClass
from linker.models.section_cap import SectionCap
from linker.models.suppression import Reach, SuppressedKind, Suppression

__all__ = [
    "AnchorRepeats",
    "ApartPage",
    "BarredPair",
    "Basis",
    "Block",
    "CandidateEdge",
    "Category",
    "Change",
    "ChangeKind",
    "ChangedDonors",
    "Cohort",
    "CohortBound",
    "CountsAs",
    "CountsBy",
    "EdgeBand",
    "EdgeCount",
    "EdgeMove",
    "EdgeStatus",
    "EmbeddingModel",
    "EventOrigin",
    "ExclusionRule",
    "ExistingLink",
    "ExpertSection",
    "Gate",
    "Identity",
    "Invitation",
    "KeptBounds",
    "KeptFigures",
    "KeptLinks",
    "KeptRun",
    "KnownAnswer",
    "LearningChoice",
    "LinkChange",
    "LinkRule",
    "MailSettings",
    "MatchedPages",
    "Membership",
    "MoveReason",
    "MovedQuery",
    "MovedTraffic",
    "NotTheSame",
    "Notification",
    "Outcome",
    "Page",
    "PageAddress",
    "PageEmbedding",
    "PageEvent",
    "PageEventKind",
    "PageGroup",
    "PageList",
    "PageStatus",
    "PageTraffic",
    "PageTurn",
    "PageTwin",
    "Pilot",
    "Placement",
    "Project",
    "QuerySource",
    "QueueOrder",
    "RankedBy",
    "Ranker",
    "Reach",
    "ReadAs",
    "Rel",
    "Replacement",
    "ReplacementEnd",
    "Role",
    "RoleRule",
    "Run",
    "RunBatch",
    "RunBlock",
    "RunCandidate",
    "RunComparison",
    "RunKind",
    "RunStatus",
    "SafetyClass",
    "SearchQuery",
    "SectionCap",
    "SensitiveDue",
    "SensitivePage",
    "SensitiveRule",
    "SensitiveState",
    "Side",
    "SuppressedKind",
    "Suppression",
    "Tier",
    "TrafficPeriod",
    "TrafficSource",
    "TwinKind",
    "UnallocatedPairs",
    "Wanted",
]
