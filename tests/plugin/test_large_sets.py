"""Reports of large sets: a first page that lists, and a page for each case beside it."""

from __future__ import annotations

import re

import pytest
from small_project import ARGUMENTS, Project

from benchmarks import large_sets
from benchmarks.large_sets import CASES, FIRST_PAGE_MB, measure
from pytest_clinical_drift.report import html

LINK = re.compile(r'href="(cases/[^"#]+)(?:#([^"]+))?"')


@pytest.fixture
def three_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "ONE_PAGE", 2)


@pytest.mark.usefixtures("three_are_many")
def test_the_first_page_links_to_a_page_for_each_case(project: Project) -> None:
    """Every link of the first page leads to a file, and every alarm to its place there; no server needed."""
    pytester = project(forget_from=3)
    pytester.runpytest(*ARGUMENTS)
    folder = pytester.path / "results" / "python-model-make"
    first = (folder / "report.html").read_text(encoding="utf-8")
    assert "Nothing to add today." not in first
    links = LINK.findall(first)
    assert {name for name, _ in links} == {f"cases/{case}.html" for case in ("anna", "bela", "cleo")}
    assert any(anchor for _, anchor in links)
    for name, anchor in links:
        page = (folder / name).read_text(encoding="utf-8")
        assert not anchor or f'id="{anchor}"' in page
        assert "Nothing to add today." in page
        assert 'href="../report.html"' in page
        for inner in re.findall(r'href="#([^"]+)"', page):
            assert f'id="{inner}"' in page, inner
        assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)


def test_a_smaller_set_leaves_no_pages_of_a_larger_one(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """What lies on top is all of the newest run; small sets are one file."""
    pytester = project()
    folder = pytester.path / "results" / "python-model-make"
    with monkeypatch.context() as many:
        many.setattr(html, "ONE_PAGE", 2)
        pytester.runpytest(*ARGUMENTS)
    assert len(list((folder / "cases").iterdir())) == 3
    pytester.runpytest(*ARGUMENTS)
    assert not (folder / "cases").exists()
    assert "Thank you for telling me." in (folder / "report.html").read_text(encoding="utf-8")
    assert len(list(folder.glob("runs/*/cases/*.html"))) == 3


@pytest.mark.slow
def test_pages_of_a_set_that_is_merged_from_shards() -> None:
    """The first page lists, each case has a page; a thousand cases are the benchmark's."""
    found = measure(120, 4)
    assert (found["cases"], found["shards"]) == (120, 4)
    assert found["first_page_mb"] <= 1
    assert 0 < found["largest_case_page_mb"] <= FIRST_PAGE_MB
    assert 0 < found["compare_page_mb"] <= FIRST_PAGE_MB
    assert 0 < found["review_page_mb"] <= FIRST_PAGE_MB * 120 / CASES
    assert found["review_files_mb"] > found["review_page_mb"]


@pytest.mark.parametrize("name", ["first_page_mb", "compare_page_mb", "review_page_mb"])
def test_each_page_to_open_first_is_held_to_the_limit(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The benchmark fails where one of them alone exceeds 3 MB."""
    pages = dict.fromkeys(("first_page_mb", "compare_page_mb", "review_page_mb"), 3.0)
    rest = dict.fromkeys(("cases", "shards", "merge_seconds", "memory_mb"), 1)
    opened = dict.fromkeys(("open_seconds", "compare_open_seconds", "review_open_seconds"))
    for size, code in ((3.0, 0), (3.01, 1)):
        found = {**pages, **rest, **opened, name: size}
        monkeypatch.setattr(large_sets, "measure", lambda *sizes, found=found: found)
        assert large_sets.main() == code


def test_the_bundled_set_stays_one_file() -> None:
    """Sixty cases are one page, as before."""
    assert html.ONE_PAGE >= 60
