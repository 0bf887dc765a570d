"""What lies in a file comes back as it went in."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linker.engine.arrays.disk import DiskRows, DiskTexts, evict_pages, to_memmap

texts = st.lists(st.text(st.characters(), max_size=20), max_size=12)


@given(texts, texts, st.slices(24))
def test_texts_come_back_whole_in_their_order_and_by_any_slice(first: list[str], more: list[str], part: slice) -> None:
    kept = DiskTexts(first)
    kept.extend(more)
    every = first + more
    assert list(kept) == every
    assert len(kept) == len(every)
    assert [kept[place] for place in range(-len(every), len(every))] == every + every
    assert kept[part] == every[part]


def test_a_text_that_is_not_there_is_missed_and_odd_ones_are_kept() -> None:
    kept = DiskTexts(["", "\x00\ud800", "a\nb"])
    assert kept[:] == ["", "\x00\ud800", "a\nb"]
    for place in (3, -4):
        with pytest.raises(IndexError):
            kept[place]


def test_rows_come_back_by_slices_and_by_what_is_wanted() -> None:
    rng = np.random.default_rng(1)
    every = rng.standard_normal((40_000, 3)).astype(np.float32)
    kept = DiskRows(3)
    for part in np.split(every, [5, 5, 30_000]):
        kept.append(part)
    assert kept.shape == every.shape
    assert np.array_equal(kept[:], every)
    assert np.array_equal(kept[20_000:30_001], every[20_000:30_001])
    wanted = rng.random(len(every)) < 0.3
    assert np.array_equal(kept[wanted], every[wanted])
    assert kept[~wanted & wanted].shape == (0, 3)
    assert DiskRows(3)[:].shape == (0, 3)


def test_arrays_in_a_file_are_what_they_were_and_are_read_again_after_they_were_let_go() -> None:
    every = np.arange(30_000, dtype=np.int32).reshape(-1, 3)
    kept = to_memmap(every)
    assert np.array_equal(kept, every)
    evict_pages(kept, every)
    assert np.array_equal(kept[::-1], every[::-1])
    assert kept.dtype == every.dtype
    assert not kept.flags.writeable
    assert to_memmap(every[:0]).shape == (0, 3)
