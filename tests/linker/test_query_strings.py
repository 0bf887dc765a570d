"""What query strings and forms send as an id."""

import pytest

from linker.query_strings import is_id


@pytest.mark.parametrize("text", ["0", "7", str(2**63 - 1)])
def test_a_number_that_the_database_can_hold_is_an_id(text):
    assert is_id(text)


@pytest.mark.parametrize("text", ["", "-1", "1.5", " 7", "٣", "²", str(2**63), "9" * 5000, "0" * 20 + "9" * 30])
def test_anything_else_is_none(text):
    assert not is_id(text)
