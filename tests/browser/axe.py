"""What axe finds on a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = (Path(__file__).parent / "vendor" / "axe-core" / "axe.min.js").read_text()
FINDINGS = """async (rules) => {
  const { violations } = await axe.run(document, { runOnly: rules, resultTypes: ["violations"], selectors: false });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}"""
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]


def findings(page: Page) -> list[str]:
    """In a light theme by all rules, and in a dark one by that of contrast, the only one that it can change."""
    page.evaluate(f"window.axe || (() => {{ {AXE} }})()")
    found = []
    for scheme, rules in (("light", RULES), ("dark", ["color-contrast"])):
        page.emulate_media(color_scheme=scheme)
        found += [f"{scheme} {finding}" for finding in page.evaluate(FINDINGS, rules)]
    return found
