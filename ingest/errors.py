"""What can be wrong with a file, said to the user."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext

from linker.errors import UserError
from linker.wording import number


class FileError(UserError):
    """A file that cannot be imported; names the file and, where there is one, the line.

    `said`: without the words that nothing was imported; `report` holds what an import had left out until then.
    """

    def __init__(self, name: str, text: str, *, line: int | None = None) -> None:
        where = name
        if line is not None:
            where = gettext("%(file)s, line %(line)s") % {"file": name, "line": number(line)}
        self.said = f"{where}: {text}"
        super().__init__(f"{self.said} {gettext('Nothing was imported.')}")
        self.report: dict[str, Any] = {}


class UnusableFile(FileError):
    """A file that nothing can be read from, whichever columns are chosen: damaged, no table, out of bounds.

    An upload that ends so is removed, unless another encoding may help: NotDecodable.
    """


class NotDecodable(UnusableFile):
    """Bytes that are no text in the encoding that the file is read in. Another may be chosen, so an upload is kept.

    `guess`: the encoding that they may have, or empty.
    """

    def __init__(self, name: str, text: str, *, line: int, guess: str = "") -> None:
        super().__init__(name, text, line=line)
        self.guess = guess


class ImportStopped(UserError):
    """An import that was read and counted but not loaded. `report` holds the counts."""

    def __init__(self, text: str, report: dict[str, Any]) -> None:
        super().__init__(f"{text} {gettext('Nothing was imported.')}")
        self.report = report
