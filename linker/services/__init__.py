"""What the jobs do: load, compute, save. Plain functions; a test calls them, linker.jobs is their door."""

from linker.services.eligibility import eligible_pages
from linker.services.embed import embedding_model, run_embed, site_template
from linker.services.finish import finish_match
from linker.services.match import batches_left, enqueue_batches, plan_match, run_batch
from linker.services.policy import mark_sensitive, retier
from linker.services.start import run_match, start_match

__all__ = [
    "batches_left",
    "eligible_pages",
    "embedding_model",
    "enqueue_batches",
    "finish_match",
    "mark_sensitive",
    "plan_match",
    "retier",
    "run_batch",
    "run_embed",
    "run_match",
    "site_template",
    "start_match",
]
