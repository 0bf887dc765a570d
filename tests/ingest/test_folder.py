"""A folder with a crawl's exports is recognised without a word from the user."""

from __future__ import annotations

import gzip
import zipfile
from typing import TYPE_CHECKING

import pytest

from ingest.folder import SAMPLE, find_crawl
from linker.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

PAGES = "Address,Content Type,Status Code,Title 1\n{}/,text/html,200,Home\n{}/a,text/html,200,A\n"
SHOP = PAGES.format("https://www.shop.example", "https://www.shop.example")


def test_the_sample_is_a_crawl_with_pages_and_links():
    crawl = find_crawl(SAMPLE)
    assert (crawl.slug, crawl.base_url) == ("fernpeak", "https://www.fernpeak.example")
    assert crawl.links is not None
    assert crawl.queries == SAMPLE / "page_queries.csv"


def test_a_file_of_page_and_query_is_found_by_its_columns(tmp_path: Path):
    (tmp_path / "internal_html.csv").write_text(SHOP)
    (tmp_path / "Queries.csv").write_text("Top queries,Clicks,Impressions,CTR,Position\ntents,1,1,1%,1\n")
    (tmp_path / "a damaged one.csv.gz").write_bytes(b"\x1f\x8bnothing")
    assert find_crawl(tmp_path).queries is None
    (tmp_path / "export.csv.gz").write_bytes(
        gzip.compress(b"query;page;impressions\ntents;https://www.shop.example/a;9\n")
    )
    crawl = find_crawl(tmp_path)
    assert crawl.queries is not None
    assert crawl.queries.name == "export.csv.gz"


def test_the_site_and_its_short_name_are_read_from_the_addresses(tmp_path: Path):
    (tmp_path / "internal_html.csv").write_text(SHOP)
    crawl = find_crawl(tmp_path)
    assert (crawl.slug, crawl.name, crawl.base_url) == ("shop-example", "www.shop.example", "https://www.shop.example")
    assert crawl.links is None


def test_the_site_is_the_one_most_rows_belong_to(tmp_path: Path):
    other = "https://cdn.example/x,text/html,200,X\n"
    (tmp_path / "internal_html.csv").write_text(SHOP.replace("Title 1\n", "Title 1\n" + other))
    assert find_crawl(tmp_path).base_url == "https://www.shop.example"


def test_packed_files_and_names_in_capitals_are_found(tmp_path: Path):
    (tmp_path / "Internal_All.csv.gz").write_bytes(gzip.compress(SHOP.encode()))
    with zipfile.ZipFile(tmp_path / "all_outlinks.zip", "w") as archive:
        archive.writestr("all_outlinks.csv", "Type,Source,Destination\n")
    crawl = find_crawl(tmp_path)
    assert crawl.pages.name == "Internal_All.csv.gz"
    assert crawl.links is not None
    assert crawl.links.name == "all_outlinks.zip"


def test_pages_alone_are_taken_before_everything_the_crawler_saw(tmp_path: Path):
    for name in ("internal_all.csv", "internal_html.csv"):
        (tmp_path / name).write_text(SHOP)
    assert find_crawl(tmp_path).pages.name == "internal_html.csv"


def test_a_folder_without_pages_says_which_file_is_missing(tmp_path: Path):
    with pytest.raises(UserError, match=r"no file of pages\. Export .* as internal_html\.csv"):
        find_crawl(tmp_path)


def test_a_folder_that_is_not_there_says_so(tmp_path: Path):
    with pytest.raises(UserError, match="is not a folder"):
        find_crawl(tmp_path / "nowhere")


def test_a_file_without_addresses_says_in_which_column_they_were_expected(tmp_path: Path):
    (tmp_path / "internal_html.csv").write_text("Address,Title 1\n,Home\nnothing,A\n")
    with pytest.raises(UserError, match=r"no row holds an address.*“Address”"):
        find_crawl(tmp_path)


def test_a_damaged_file_says_what_is_wrong_with_it(tmp_path: Path):
    (tmp_path / "internal_html.csv.gz").write_bytes(gzip.compress(SHOP.encode() * 100)[:-20])
    with pytest.raises(UserError, match="cut off"):
        find_crawl(tmp_path)
