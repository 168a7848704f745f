"""The documentation in a real browser: where Chromium is, where Node is, and a build of the pages that is served to this machine alone."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDED = ("sphinx", "myst_nb", "furo", "sphinx_copybutton", "sphinxcontrib.bibtex", "sphinx-mathjax-offline", "matplotlib", "pandas")


def browser() -> str:
    """Return the browser's command."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("there is no Chromium")
    return found


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Serve files without a line per request."""

    def log_message(self, *_arguments: object) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine alone; the address is what is yielded."""
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def needs_docs() -> None:
    """Skip where the extra ``docs`` is not installed; building pages takes minutes."""
    for name in NEEDED:
        try:
            found = find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            pytest.skip(f"{name} is not installed")


def build(folder: Path) -> Path:
    """Build the pages with warnings as errors; return the folder of the HTML."""
    needs_docs()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", str(folder / "trees"), "-b", "html", "docs"]
    command.append(str(folder / "html"))
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder / "html"
