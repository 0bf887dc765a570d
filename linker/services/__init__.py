"""What the jobs do: load, compute, save. Plain functions; a test calls them, linker.jobs is their door."""

from linker.services.eligibility import barred_pages, eligible_pages
from linker.services.embed import embedding_model, pages_by_set, run_embed, site_template
from linker.services.finish import finish_match
from linker.services.match import batches_left, enqueue_batches, plan_match, run_batch
from linker.services.pilots import limited_to_pilot
from linker.services.policy import keep_apart, retier
from linker.services.roles import apply_role_rules, find_roles, role_counts, run_find_roles
from linker.services.sensitive import (
    find_pages_of,
    find_sensitive,
    mark_pages_of,
    mark_sensitive,
    run_find_sensitive,
    why_sensitive,
)
from linker.services.start import run_match, start_match

__all__ = [
    "apply_role_rules",
    "barred_pages",
    "batches_left",
    "eligible_pages",
    "embedding_model",
    "enqueue_batches",
    "find_pages_of",
    "find_roles",
    "find_sensitive",
    "finish_match",
    "keep_apart",
    "limited_to_pilot",
    "mark_pages_of",
    "mark_sensitive",
    "pages_by_set",
    "plan_match",
    "retier",
    "role_counts",
    "run_batch",
    "run_embed",
    "run_find_roles",
    "run_find_sensitive",
    "run_match",
    "site_template",
    "start_match",
    "why_sensitive",
]
