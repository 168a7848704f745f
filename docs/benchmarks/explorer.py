"""Times of a page with sliders: to write it from a cold start, beside ``import sympy``, and until a browser paints it; and its size.

It needs Chromium: ``python docs/benchmarks/explorer.py``. Cold starts are whole processes with imports; those of one round alternate, so
that a busy machine affects all of them, and the best of three counts. Processor time is that of an idle machine, where it is the time that
passes. The limits, for the page of GPT-2: 3 s to write, 0.5 s to the first paint, 1.5 MB. The more letters and conditions a model has, the
longer its formulas take.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from chromium import Browser  # noqa: E402 - in the folder of the tests

ROUNDS = 3
MODELS = ("gpt2", "bert-base-uncased", "resnet50", "state-spaces/mamba-130m-hf", "meta-llama/Meta-Llama-3-8B", "deepseek-ai/DeepSeek-V3")
PAINTED = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime"


def cold(*command: str) -> tuple[float, float]:
    """Return the seconds of one process, and those of the processor."""
    began, before = time.perf_counter(), os.times()
    subprocess.run([sys.executable, *command], capture_output=True, check=True, cwd=ROOT)  # noqa: S603 - our own
    passed, after = time.perf_counter() - began, os.times()
    return passed, after.children_user + after.children_system - before.children_user - before.children_system


def painted(browser: Browser, page: Path) -> tuple[float, float]:
    """Return the seconds until the browser paints the page, and until all of its numbers are there."""
    browser.open(page.as_uri(), f"{PAINTED} && document.body.dataset.ready")
    return browser.run(PAINTED) / 1000, browser.run("performance.now()") / 1000


def main() -> None:
    """Print the times of each page, and that of importing SymPy in the same rounds."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {name: Path(folder) / f"{number}.html" for number, name in enumerate(MODELS)}
        commands: dict[str, tuple[str, ...]]
        commands = {name: ("-m", "paramsym", "explore", name, "-o", str(page)) for name, page in pages.items()}
        commands["import sympy"] = ("-c", "import sympy")
        found = [{name: cold(*command) for name, command in commands.items()} for _ in range(ROUNDS)]
        best = {name: tuple(map(min, zip(*(one[name] for one in found), strict=True))) for name in commands}
        written = {name: f"{passed:6.2f} s, {busy:5.2f} s of a processor" for name, (passed, busy) in best.items()}
        sys.stdout.write(f"{'import sympy':29} {written['import sympy']}\n")
        browser = Browser()
        try:
            for name, page in pages.items():
                paint, ready = (min(times) for times in zip(*(painted(browser, page) for _ in range(ROUNDS)), strict=True))
                shown = f"first paint {paint:.2f} s, complete {ready:.2f} s, {page.stat().st_size / 1e6:.2f} MB"
                sys.stdout.write(f"{name:29} {written[name]}; {shown}\n")
        finally:
            browser.close()


if __name__ == "__main__":
    main()
