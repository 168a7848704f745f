"""Times of reading a configuration, compared with the reference, which builds it without weights; and times of importing.

It needs transformers 5.23 and PyTorch: ``python docs/benchmarks/from_config.py``. Both sides alternate in one process, so that a busy
machine affects both, and the best of ten is compared; cold starts are whole processes, with imports. The limits: reading takes at most a
fifth of building, or 2 ms if this is more, and counting DeepSeek-V3 from a cold start a quarter.
"""

from __future__ import annotations

import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
import warnings
from pathlib import Path
from typing import Any

import torch
import transformers

import paramsym as ps

ROOT = Path(__file__).parents[2]
REPEATS = 10
BUILD = """
import json, sys, torch, transformers
config = transformers.AutoConfig.for_model(**json.load(open(sys.argv[1])))
with torch.device("meta"):
    model = transformers.DeepseekV3ForCausalLM(config)
print(sum(parameter.numel() for parameter in model.parameters()))
"""


def rows(name: str) -> list[dict[str, Any]]:
    """Return the recorded rows of one file."""
    with gzip.open(ROOT / "tests" / "facts" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def warm(row: dict[str, Any]) -> tuple[float, float]:
    """Return seconds to read a configuration, and to build the reference's model of it."""
    plain = {key: value for key, value in row["config"].items() if key != "time_step_limit"}  # an infinity, recorded as a word
    config, model_class = transformers.AutoConfig.for_model(**plain), getattr(transformers, row["model_class"])

    def ours() -> object:
        return ps.from_config(row["config"], row["model_class"])

    def theirs() -> object:
        with warnings.catch_warnings(), torch.device("meta"):
            warnings.simplefilter("ignore")
            return model_class(config)

    ours(), theirs()
    taken = [(timeit.timeit(ours, number=1), timeit.timeit(theirs, number=1)) for _ in range(REPEATS)]
    return min(one for one, _ in taken), min(other for _, other in taken)


def cold(*command: str) -> tuple[float, str]:
    """Return the best time of three processes in seconds, and the last one's output."""
    best, said = float("inf"), ""
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, *command], capture_output=True, check=True, cwd=ROOT, text=True)  # noqa: S603 - our own
        said = done.stdout.strip()
        best = min(best, time.perf_counter() - began)
    return best, said


FIRST = "import paramsym as ps; ps.MultiHeadAttention(ps.H, ps.A).params"


def main() -> None:
    """Print every family's ratio, worst last, then the cold starts."""
    transformers.logging.set_verbosity_error()
    out = sys.stdout.write
    firsts = {row["config"]["model_type"]: row for row in reversed(rows("hf_random"))}
    found = sorted((read / max(built / 5, 0.002), read, built, family) for family, row in firsts.items() for read, built in (warm(row),))
    out(f"warm, the first recorded configuration of {len(found)} model types; allowed is a fifth of building, or 2 ms\n")
    for share, read, built, family in found:
        out(f"  {family:20} {1000 * read:6.2f} ms read  {1000 * built:7.2f} ms built  {share:5.2f} of what is allowed\n")
    row = next(row for row in rows("hf_checkpoints") if row["checkpoint"].startswith("deepseek-ai/DeepSeek-V3"))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "config.json"
        file.write_text(json.dumps({**row["config"], "architectures": [row["model_class"]]}), encoding="utf-8")
        (counted, ours), (built, theirs) = cold("-m", "paramsym", "count", str(file)), cold("-c", BUILD, str(file))
    out(f"cold, DeepSeek-V3 has {int(ours):,} parameters here and {int(theirs):,} there, recorded {row['n_params']:,}\n")
    empty, sympy = cold("-c", "")[0], cold("-c", "import sympy")[0]
    out(f"cold, DeepSeek-V3: {counted:.2f} s counted, {built:.2f} s built, ratio {counted / built:.2f}\n")
    out(f"cold, over an empty process: import paramsym {(cold('-c', 'import paramsym')[0] - empty) / (sympy - empty):.3f}")
    out(f" and paramsym --help {(cold('-m', 'paramsym', '--help')[0] - empty) / (sympy - empty):.2f} of import sympy\n")
    pairs = [(cold("-c", FIRST)[0], cold("-c", "import sympy")[0]) for _ in range(9)]
    first = statistics.median(one for one, _ in pairs) / statistics.median(other for _, other in pairs)
    out(f"cold, the first closed form of a process: {first:.3f} of import sympy, medians of nine pairs, each the best of three\n")


if __name__ == "__main__":
    main()
