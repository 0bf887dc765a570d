"""What a file says again and again is found out once and remembered, in bounded memory."""

from __future__ import annotations

from sys import getsizeof
from typing import Any

MEMO = 500_000  # answers, or pairs, remembered before the memory is emptied
MEMO_BYTES = 2**26  # of the texts that were asked about, likewise
MEMO_LENGTH = 500  # characters; longer texts are rare, or meant to fill the memory


class Memo(dict[Any, Any]):
    """Answers by the text, or the texts, that were asked about; bounded in number and in bytes. Read as a dict."""

    bytes = 0

    def keep(self, asked: str | tuple[str | None, ...], answer: Any) -> Any:
        """Remembers an answer, and returns it."""
        texts = (asked,) if isinstance(asked, str) else asked
        if sum(len(text or "") for text in texts) <= MEMO_LENGTH:
            size = sum(map(getsizeof, texts))
            if len(self) >= MEMO or self.bytes + size > MEMO_BYTES:
                self.clear()
                self.bytes = 0
            self.bytes += size
            self[asked] = answer
        return answer
