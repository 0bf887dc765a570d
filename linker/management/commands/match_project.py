"""Matches a project's pages."""

import signal
import time
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from ingest.lists import read_list
from linker.engine.candidates.registry import GENERATORS
from linker.engine.params import MatchParams, Mode, PageFilter, Ranking, Sample, Scope
from linker.engine.patterns import compile_pattern
from linker.engine.ranking.rankers.registry import RANKERS
from linker.management.commands._cli import ProgressBar, ProjectCommand, work_here
from linker.matching.changes_run import run_changes
from linker.matching.changes_start import start_changes
from linker.matching.start import run_match
from linker.models import Category, Project, Run, RunKind
from linker.models.run import ACTIVE
from linker.pages.page_lists import list_in_words, unknown_in_words
from linker.runs import lifecycle
from linker.runs.workers import WorkerPool


def _path(text: str) -> list[str]:
    names = [name.strip() for name in text.split(">")]
    if not all(names):
        raise ArgumentTypeError(f"“{text}” is not a category: write its names from the top, Shop > Tents")
    return names


def _count(text: str) -> int:
    if not text.isdigit():
        raise ArgumentTypeError(f"{text} is not a number of workers: write 0 or more")
    return int(text)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",") if name.strip()]
    unknown = sorted(set(names) - set(GENERATORS))
    if unknown or not names:
        what = f"there is no generator {', '.join(unknown)}" if unknown else "no generator is named"
        raise ArgumentTypeError(f"{what}; there are {', '.join(GENERATORS)}")
    return names


def _switched_on(chosen: list[str] | None, without: list[str]) -> tuple[str, ...]:
    """Empty where all are: a run of today then stays one of all when there are more."""
    if chosen is None and not without:
        return ()
    kept = [name for name in GENERATORS if (chosen is None or name in chosen) and name not in without]
    if not kept:
        raise ValueError("every generator is switched off: leave at least one")
    return tuple(kept)


def _categories(project: Project, paths: list[list[str]]) -> tuple[int, ...]:
    """The ids of the categories at some paths."""
    found = []
    for path in paths:
        category = Category.objects.filter(project=project, path=path).first()
        if category is None:
            raise CommandError(f"There is no category “{' > '.join(path)}” in {project.slug}.")
        found.append(category.pk)
    return tuple(found)


def _scope(options: dict[str, Any]) -> dict[str, Any]:
    """The parameters that say where acceptors are looked for; none where that is left to the ranking."""
    if options["whole_site"]:
        return {"scope": Scope.SITE}
    if options["levels_up"] is not None:
        return {"scope": Scope.LEVELS, "levels_up": options["levels_up"]}
    return {}


class Command(ProjectCommand):
    help = "Proposes links, and stores them for review. Works in this process, or with --workers through the queue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        default = MatchParams()
        parser.add_argument(
            "--ranking", choices=[Ranking.AUTO.value, *RANKERS], default=default.ranking,
            help=f"{'; '.join(f'{name}: {ranker.help}' for name, ranker in RANKERS.items())}; auto: learned "
            "where there are links enough to learn from, else shipped, or formula where the project has weights of its "
            "own (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--generators", type=_names, metavar="A,B",
            help=f"where candidates come from, of {', '.join(GENERATORS)} (default: all)",
        )  # fmt: skip
        parser.add_argument("--without", type=_names, default=[], metavar="A,B", help="generators to switch off")
        parser.add_argument(
            "--threshold", type=float, metavar="X", help="lowest score kept (default: that of the ranking)"
        )
        parser.add_argument(
            "--inline-per-donor", type=int, default=default.inline_per_donor, metavar="K",
            help="most new links in a donor's text (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--related-per-donor", type=int, default=default.related_per_donor, metavar="K",
            help="most new links beside it (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--inline-in-all", type=int, default=default.inline_in_all, metavar="K",
            help="most links in a donor's text, including existing ones, 0 for no cap (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--per-1000-words", type=int, default=default.per_1000_words, metavar="K",
            help="most links in a donor's text, including existing ones, for each 1,000 words, 0 for no cap "
            "(default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--related-in-all", type=int, default=default.related_in_all, metavar="K",
            help="most links beside the text, including existing ones in an aside, 0 for no cap (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--per-target", type=int, default=default.per_target, metavar="K",
            help="most new links an acceptor receives, 0 for no cap (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--target-share", type=float, default=default.target_share, metavar="X",
            help="largest share of the run's links that one acceptor receives, 1 for no cap (default: %(default)s)",
        )  # fmt: skip
        parser.add_argument(
            "--reciprocal", type=int, metavar="K",
            help="most of a donor's links whose acceptor links back (default: no limit)",
        )  # fmt: skip
        parser.add_argument(
            "--mode", choices=[mode.value for mode in Mode], default=default.mode.value,
            help="allocation: best (greedy: highest scores first), equal (round robin: a first link for every page, "
            "then a second) or optimal (the highest total that the caps allow) (default: %(default)s)",
        )  # fmt: skip
        scope = parser.add_mutually_exclusive_group()
        scope.add_argument(
            "--levels-up", type=int, metavar="N",
            help="a donor is given acceptors of its own category and N levels of the category tree above it, however "
            f"the run is ranked (default: {default.levels_up} with a ranking by cosine, else the whole site)",
        )  # fmt: skip
        scope.add_argument(
            "--whole-site", action="store_true", help="a donor is given acceptors of the whole site, by cosine too"
        )
        group = parser.add_argument_group("with --ranking cosine")
        group.add_argument(
            "--level-penalty", type=float, default=default.level_penalty, metavar="X",
            help="subtracted from the cosine for each level (default: %(default)s)",
        )  # fmt: skip
        for side in ("donor", "acceptor"):
            group = parser.add_argument_group(f"which pages may be {side}s")
            group.add_argument(
                f"--{side}-category", type=_path, action="append", default=[], metavar="PATH",
                help='subtree, names from the top: "Shop > Tents"; may be given again',
            )  # fmt: skip
            group.add_argument(f"--{side}-url", default="", metavar="RE", help="RE2 expression searched in the address")
            for number in ("clicks", "inlinks"):
                group.add_argument(f"--{side}-min-{number}", type=int, metavar="N")
                group.add_argument(f"--{side}-max-{number}", type=int, metavar="N")
            group.add_argument(
                f"--{side}s", type=Path, metavar="FILE",
                help="only the pages of this file: one address a line, or a table with a column of addresses",
            )  # fmt: skip
        group = parser.add_argument_group("a pilot: a run over some of the donors first")
        group.add_argument(
            "--pilot", type=int, metavar="N", help="over N donors drawn at random; 0: over all of --pilot-category"
        )
        group.add_argument(
            "--pilot-category", type=_path, action="append", default=[], metavar="PATH",
            help="only of this subtree; may be given again",
        )  # fmt: skip
        group.add_argument(
            "--pilot-seed", type=int, default=Sample.seed, metavar="N",
            help="another number draws other donors (default: %(default)s)",
        )  # fmt: skip
        group.add_argument(
            "--pilot-anywhere", action="store_true", help="without giving each top category its share of them"
        )
        parser.add_argument(
            "--changed", action="store_true",
            help="only pages that changed since the standing run, and those that might link to them, as that run "
            "ranked; the whole site where too much has changed. Takes no other option but --workers",
        )  # fmt: skip
        parser.add_argument("--include-non-indexable-donors", action="store_true")
        parser.add_argument(
            "--workers", type=_count, default=0, metavar="N",
            help="match with N worker processes through the queue (default: 0, in this process)",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options["slug"])
        try:
            params = self._params(project, options)
        except ValueError as error:
            raise CommandError(str(error)) from error
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.default_int_handler)  # the run is cancelled and the workers are stopped
        to_queue = bool(options["workers"])
        if options["changed"]:
            run = start_changes(project, to_queue=to_queue, by_itself=False)
        else:
            run = lifecycle.start_run(project, RunKind.MATCH, params.to_dict(), to_queue=to_queue, by_itself=False)
        ended = self._work(run, options["workers"])
        whole = None
        if options["changed"]:
            whole = Run.objects.filter(project=project, kind=RunKind.MATCH, status__in=ACTIVE, pk__gt=run.pk).first()
        self.show(ended, verbose=options["verbose"], is_last=whole is None)
        if whole is not None:
            self.show(self._work(whole, options["workers"]), verbose=options["verbose"])

    def _work(self, run: Run, workers: int) -> Run:
        here = run_changes if run.kind == RunKind.CHANGES else run_match
        return self._through_queue(run, workers) if workers else work_here(run, here)

    def _through_queue(self, run: Run, workers: int) -> Run:
        bar = ProgressBar()
        with WorkerPool(workers) as pool:
            try:
                while run.is_active:
                    pool.watch()
                    time.sleep(0.2)
                    run.refresh_from_db()
                    bar(run.done, run.total, run.stage or "Waiting")
            except KeyboardInterrupt:
                lifecycle.request_cancel(run)
                run.refresh_from_db()
        bar.close()
        return run

    def _params(self, project: Project, options: dict[str, Any]) -> MatchParams:
        per_donor = options["inline_per_donor"] + options["related_per_donor"]
        return MatchParams(
            ranking=options["ranking"],
            generators=_switched_on(options["generators"], options["without"]),
            **_scope(options),
            level_penalty=options["level_penalty"],
            threshold=options["threshold"],
            inline_per_donor=options["inline_per_donor"],
            related_per_donor=options["related_per_donor"],
            inline_in_all=options["inline_in_all"],
            related_in_all=options["related_in_all"],
            per_1000_words=options["per_1000_words"],
            per_target=options["per_target"],
            target_share=options["target_share"],
            reciprocal=options["reciprocal"],
            pool=max(MatchParams.pool, 2 * per_donor),
            mode=Mode(options["mode"]),
            weights=project.formula_weights,
            donors=self._filter(project, "donor", options),
            acceptors=self._filter(project, "acceptor", options),
            pilot=self._pilot(project, options),
        )

    def _pilot(self, project: Project, options: dict[str, Any]) -> Sample | None:
        if options["pilot"] is None:
            if options["pilot_category"]:
                raise CommandError("--pilot-category needs --pilot: give a number of donors, or 0 for all of them.")
            return None
        categories = _categories(project, options["pilot_category"])
        return Sample(options["pilot"], categories, not options["pilot_anywhere"], options["pilot_seed"])

    def _list(self, project: Project, file: Path | None) -> int | None:
        """The id of the list that a file holds; prints its size and its unknown lines."""
        if file is None:
            return None
        found = read_list(project, file)
        self.stderr.write(f"{list_in_words(found)}.")
        if found.unknown_lines:
            self.stderr.write(unknown_in_words(found))
        return found.pk

    def _filter(self, project: Project, side: str, options: dict[str, Any]) -> PageFilter:
        categories = _categories(project, options[f"{side}_category"])
        if options[f"{side}_url"]:
            compile_pattern(options[f"{side}_url"])
        return PageFilter(
            categories=categories,
            url_pattern=options[f"{side}_url"],
            indexable_only=not (side == "donor" and options["include_non_indexable_donors"]),
            min_clicks=options[f"{side}_min_clicks"],
            max_clicks=options[f"{side}_max_clicks"],
            min_inlinks=options[f"{side}_min_inlinks"],
            max_inlinks=options[f"{side}_max_inlinks"],
            page_list=self._list(project, options[f"{side}s"]),
        )
