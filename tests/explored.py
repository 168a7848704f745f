"""What the tests of the explorer share: how a tab is asked of the library, sizes to try, and what the page shows."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from chromium import Browser

import paramsym as ps
from paramsym.atlas.published import RECORDED
from paramsym.errors import ParamsymError
from paramsym.models import FAMILIES

NAMES = [name for classes, _ in FAMILIES.values() for name in classes.split()] + [*RECORDED]
WAYS = {"forward": "forward", "training": "both"}
ATTENTION = {"eager": "torch-eager", "fused": "torch-sdpa"}
CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "params": {},
    "flops": {"pass": ("forward", "training"), "count": ("FLOPs", "MACs")},
    "activations": {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
    "cache": {"precision": ("float32", "bfloat16")},
    "training": {"precision": ("float32", "bfloat16"), "attention": ("eager", "fused")},
    "inference": {"precision": ("float32", "bfloat16")},
}


def asked(root: ps.Layer, question: str, chosen: dict[str, str], shapes: tuple[Any, ...] = ()) -> Any:
    """Ask the library what a tab of the page shows."""
    if question == "params":
        return root
    if question == "flops":
        return {"FLOPs": ps.flops, "MACs": ps.macs}[chosen["count"]](root, *shapes, way=WAYS[chosen["pass"]])  # type: ignore[arg-type]
    dtype = chosen["precision"]
    if question == "cache":
        return ps.kv_cache(root, *shapes, dtype=dtype)
    if question == "inference":
        return ps.memory(root, *shapes, use="inference", dtype=dtype, convention="torch-sdpa")
    ask: Any = {"activations": ps.activations, "training": ps.memory}[question]
    return ask(root, *shapes, dtype=dtype, convention=ATTENTION[chosen["attention"]])


def show(browser: Browser, folder: Path, address: str) -> None:
    """Open the page at an address."""
    browser.open(f"{(folder / 'explorer' / 'index.html').as_uri()}{address}", "document.body?.dataset.ready")


def total(page: Browser) -> int:
    """Return the number that is shown."""
    return int(page.run("document.querySelector('.total .count').textContent").replace(",", ""))


def choose(page: Browser, name: str) -> None:
    """Choose a published model, as typing its name does."""
    look = f"const {{family, number, name}} = explorer.look({json.dumps(name)})"
    page.run(f"(async () => {{ {look}; await explorer.choose(family, number, name); }})()")


def whole(text: str) -> int:
    """Read a number of the page."""
    return int(text.replace(",", "").replace("\N{MINUS SIGN}", "-"))


def sizes_for(rng: random.Random, root: ps.Layer, known: dict[str, int], inputs: dict[str, int]) -> dict[str, int]:
    """Return random sizes that a model can have, near none of the published ones."""
    for attempt in range(60):
        keep = attempt / 60  # fewer sizes are changed after each failure
        changes = {name: (rng.randint(1, 9), rng.choice([0, 0, 1])) if rng.random() > keep else (1, 0) for name in known}
        if attempt % 2:  # an inner product of two models needs the same width in both
            changes = {name: changes[next(one for one in known if known[one] == value)] for name, value in known.items()}
        sizes = {name: value * changes[name][0] + changes[name][1] for name, value in known.items()}
        try:
            ps.evaluate(root, sizes)
            if inputs:
                ps.evaluate(ps.flops(root), {**sizes, **inputs})
        except ParamsymError:
            continue
        return sizes
    return known
