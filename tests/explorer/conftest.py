"""The explorer's page, written for these tests, in one browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser
from documentation import ROOT, browser as chromium
from explored import show


@pytest.fixture(scope="session")
def kept() -> str:
    """Return the folder that keeps what the explorer computes; without it, its tests would take longer than all others."""
    chromium()
    found = os.environ.get("EXPLORER_KEPT")
    if not found:
        pytest.skip("EXPLORER_KEPT names no folder for what the explorer computes")
    return found


@pytest.fixture(scope="session")
def folder(kept: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the page and all families."""
    made = tmp_path_factory.mktemp("pages")
    subprocess.run([sys.executable, "docs/explorer/build.py", str(made), "--kept", kept], cwd=ROOT, check=True, timeout=900)
    return made


@pytest.fixture(scope="session")
def browser(kept: str) -> Iterator[Browser]:  # noqa: ARG001 - where the explorer is tested
    """One browser for all tests."""
    one = Browser()
    yield one
    one.close()


@pytest.fixture
def page(folder: Path, browser: Browser) -> Iterator[Browser]:
    """The page as it is when it is opened; afterwards nothing was asked of the network, and nothing is wrong in the console."""
    browser.console.clear()
    browser.requests.clear()
    browser.size(1400)
    show(browser, folder, "")
    yield browser
    assert [one for one in browser.requests if not re.match(r"(file|data|blob):|about:blank", one)] == []
    assert browser.console == []
