"""Which address of a page is the best to know it by."""

from ingest.addresses.normalise import is_clean


def address_worth(url: str, key: str) -> int:
    """How clean an address of a page is: 2 where it is the page's key, 1 where it has neither tracking parameters nor
    a fragment; added up."""
    return 2 * (url == key) + is_clean(url)


def address_order(url: str, key: str) -> tuple[int, int, str]:
    """Sorts a page's addresses, the one to know it by first: the cleanest, the shortest, by alphabet."""
    return -address_worth(url, key), len(url), url
