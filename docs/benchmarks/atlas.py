"""Times of reading configurations through the atlas: ``python docs/benchmarks/atlas.py``.

Every recorded configuration of transformers and diffusers whose type is read from the atlas is read once, then counted ten times.
Printed is the best processor time of the ten, slowest first; what takes longer than the limit is counted ten times more at the end, because
other work on the machine can slow all of ten. A cold start is the import and the first reading in a new process that has
imported SymPy and added two symbols (the first sum imports more of SymPy). The limits: 20 ms warm and 150 ms cold.
``python docs/benchmarks/atlas.py 20`` prints only the 20 slowest, and starts only them cold.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import paramsym as ps
from paramsym.atlas.building import model_of
from paramsym.config import is_recorded

FACTS = Path(__file__).parents[2] / "tests" / "facts"
REPEATS = 10
WARM, COLD = 20.0, 150.0
"""Wanted milliseconds."""
FIRST = """
import json, sys, time
import sympy
sympy.Symbol("x") + sympy.Symbol("y")
config, architecture = json.loads(sys.argv[1]), sys.argv[2]
began = time.process_time()
import paramsym as ps
ps.from_config(config, architecture or None).count
print(1000 * (time.process_time() - began))
"""


def rows() -> dict[str, tuple[dict[str, Any], str | None]]:
    """Return the recorded configurations that the atlas answers, with the class to read, by a name."""
    found: dict[str, tuple[dict[str, Any], str | None]] = {}
    for facts in ("hf_defaults", "diffusers"):
        with gzip.open(FACTS / f"{facts}.jsonl.gz", "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                config = {**row["config"], "model_type": row["model_type"]} if facts == "hf_defaults" else row["config"]
                architecture = row["model_class"] if facts == "hf_defaults" else None
                try:
                    answered = is_recorded(config) and ps.from_config(config, architecture).count > 0
                except ps.ParamsymError:
                    continue
                if answered:
                    found[row["model_class"]] = config, architecture
    return found


def warm(config: dict[str, Any], architecture: str | None) -> float:
    """Return the milliseconds of reading and counting a new configuration of a type that was read before."""
    best = float("inf")
    for _ in range(REPEATS):
        model_of.cache_clear()  # equal configurations give one model, and another one is to be measured
        began = time.process_time()
        _ = ps.from_config(config, architecture).count
        best = min(best, time.process_time() - began)
    return 1000 * best


def cold(config: dict[str, Any], architecture: str | None) -> float:
    """Return the milliseconds that importing paramsym and reading a configuration take in a process that has imported SymPy."""
    command = [sys.executable, "-c", FIRST, json.dumps(config), architecture or ""]
    bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}  # compiled once, as an installed package is
    times = (subprocess.run(command, capture_output=True, check=True, text=True, env=bytecode).stdout for _ in range(4))  # noqa: S603 - our own
    return min(map(float, times))


def main() -> None:
    """Print the slowest first."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else None
    out = sys.stdout.write
    answered = rows()
    times = {name: warm(*asked) for name, asked in answered.items()}
    times |= {name: min(taken, warm(*answered[name])) for name, taken in times.items() if taken > WARM}
    timed = sorted(((taken, name) for name, taken in times.items()), reverse=True)
    out(f"{'class':56} {'warm':>9} {'cold':>9}\n")
    starts = []
    for taken, name in timed[:most]:
        starts.append(cold(*answered[name]))
        out(f"{name:56} {taken:6.2f} ms {starts[-1]:6.0f} ms\n")
    slow, slow_starts = sum(taken > WARM for taken, _ in timed), sum(taken > COLD for taken in starts)
    out(f"{len(timed)} classes: {slow} take more than {WARM:g} ms warm; {slow_starts} of {len(starts)} more than {COLD:g} ms cold\n")


if __name__ == "__main__":
    main()
