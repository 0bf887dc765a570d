"""What a match run over the whole site has read of each page, kept so that a later run can tell what changed."""

from __future__ import annotations

from django.db import models

from linker.models.run import Run


class MatchedPages(models.Model):
    """The pages of a match run by a ranker, as little-endian arrays in one order, ascending by id (see
    linker.matching.page_marks): `ids` int64; `marks` uint64 of all that was read of a page; `names` uint64 of what it
    is called and whether it may receive links; `nearness` float32, see linker.engine.ranking.approval.nearness_of;
    `runs` int64: the run that matched the page last, this one or one over what changed.

    `changes`: runs over what changed since; `changed`: the pages that those found changed, each as often as it was.
    """

    run = models.OneToOneField(Run, on_delete=models.CASCADE, primary_key=True, related_name="matched_pages")
    ids = models.BinaryField()
    marks = models.BinaryField()
    names = models.BinaryField()
    nearness = models.BinaryField()
    runs = models.BinaryField()
    changes = models.IntegerField(default=0)
    changed = models.BigIntegerField(default=0)

    class Meta:
        verbose_name_plural = "matched pages"

    def __str__(self) -> str:
        return f"pages of run {self.run_id}"
