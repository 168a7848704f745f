"""The page itself: small and quick, light and dark, narrow and wide, readable without a mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from chromium import Browser
from explored import choose, show


def test_it_is_small_and_painted_at_once(page: Browser, folder: Path) -> None:
    """The page is below 1.5 MB, all families together below 1.6 MB; the first paint comes within a second from disk, at best of three."""
    assert (folder / "explorer" / "index.html").stat().st_size < 1_500_000
    assert sum(file.stat().st_size for file in (folder / "explorer").rglob("*.js")) < 1_600_000
    paints = []
    for _ in range(3):
        show(page, folder, "")
        page.wait("performance.getEntriesByName('first-contentful-paint').length")
        paints.append(page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
    assert min(paints) < 1000, paints


@pytest.mark.parametrize("width", [400, 700, 1000, 1400, 2000])
def test_nothing_is_wider_than_the_window(page: Browser, width: int) -> None:
    """No page scrolls sideways; tables and long formulas do, inside it."""
    page.size(width)
    for name in ("gpt2", "facebook/wav2vec2-base-960h", "microsoft/swin-tiny-patch4-window7-224"):
        choose(page, name)
        for question in ("params", "inference"):
            page.run(f"explorer.state.question = '{question}'; explorer.update()")
            page.wait("document.querySelector('#why').textContent")
            assert page.run("document.documentElement.scrollWidth <= window.innerWidth"), (name, question)


def test_light_and_dark(page: Browser) -> None:
    """The system's colours, unless the reader chooses; the choice is the documentation's, and is kept."""
    ground = "getComputedStyle(document.body).backgroundColor"
    page.run("localStorage.setItem('theme', 'auto'); document.documentElement.dataset.theme = 'auto'")
    page.size(1400, dark=True)
    assert page.run(ground) == "rgb(19, 20, 22)"
    page.click("#theme")
    assert page.run(f"[localStorage.getItem('theme'), {ground}]") == ["light", "rgb(255, 255, 255)"]
    page.size(1400)
    page.click("#theme")
    assert page.run(f"[localStorage.getItem('theme'), {ground}]") == ["dark", "rgb(19, 20, 22)"]
    page.click("#theme")


def test_everything_that_can_be_reached_has_a_name(page: Browser) -> None:
    """As the browser tells a screen reader: fields, sliders, buttons, choices."""
    page.send("Accessibility.enable")
    nodes = page.send("Accessibility.getFullAXTree")["nodes"]
    roles = {"textbox", "slider", "button", "combobox", "tab", "link", "ComboBoxMenu", "searchbox"}
    reached = [node for node in nodes if not node["ignored"] and node.get("role", {}).get("value") in roles]
    assert len(reached) > 25
    assert [node for node in reached if not node.get("name", {}).get("value")] == []
    slider = next(node for node in reached if node["role"]["value"] == "slider")
    assert slider["name"]["value"].startswith("V: vocab_size")


def test_formulas_are_typeset(page: Browser) -> None:
    """By KaTeX, which is in the page; in the letters of a paper, and in no letters that mean two things."""
    page.wait("document.querySelectorAll('.term .katex').length === 5")
    page.wait("document.querySelector('#why .step .katex')")
    assert not page.run("document.querySelector('.katex-error')")
    assert page.run(
        "[...document.querySelectorAll('.step')].every((one) => one.scrollWidth <= one.clientWidth)"
    )  # lines break where they fit
    page.run("explorer.find('paper').value = 'vaswani'; explorer.find('paper').dispatchEvent(new Event('change', {bubbles: true}))")
    assert page.run("document.querySelector('.term .math').dataset.latex") == r"12 N d_{\text{model}}^{2}"
    clash = page.run("explorer.clash(['P', 'S'], 'kaplan')")
    assert "writes both P and S" in clash
