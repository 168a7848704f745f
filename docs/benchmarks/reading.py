"""Times of reading live modules: ``python docs/benchmarks/reading.py``, with torch, and with transformers for the last three.

A module is read and asked for its FLOPs; beside it is one trace by torch itself, ``torch.export.export`` of the same module for the same
inputs. Both begin with a module that nothing has traced before, and the best processor time of three is printed, then their ratio. The last
column is a question of a module that was read: its activations, for inputs of the same shape. The limits: 3 times a trace, and 20 ms for a
question.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import torch

import paramsym as ps

REPEATS = 3
RATIO, QUESTION = 3.0, 20.0
"""Wanted: times a trace, and milliseconds."""


class Gpt(torch.nn.Module):
    """A decoder as one writes it: blocks of torch's own layers between a table and a head."""

    def __init__(self, width: int, heads: int, depth: int) -> None:
        """Build the layers."""
        super().__init__()
        self.table = torch.nn.Embedding(50257, width)
        self.blocks = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(width, heads, 4 * width, batch_first=True, norm_first=True) for _ in range(depth)
        )
        self.head = torch.nn.Linear(width, 50257, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return the logits of every token."""
        x = self.table(tokens)
        for block in self.blocks:
            x = block(x)
        logits: torch.Tensor = self.head(x)
        return logits


def convolutions() -> torch.nn.Module:
    """Return twenty convolutions with norms."""
    layers: list[torch.nn.Module] = [torch.nn.Conv2d(3, 64, 3, padding=1)]
    for _ in range(20):
        layers += [torch.nn.Conv2d(64, 64, 3, padding=1, bias=False), torch.nn.BatchNorm2d(64), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers)


def modules() -> Iterator[tuple[str, Callable[[], torch.nn.Module], torch.Tensor]]:
    """Yield a name, how a module is built, and its input; all without weights in memory."""
    tokens = torch.zeros(2, 128, dtype=torch.long, device="meta")
    yield "own GPT, 12 layers", lambda: Gpt(768, 12, 12), tokens
    yield "own GPT, 24 layers", lambda: Gpt(1024, 16, 24), tokens
    yield "20 convolutions", convolutions, torch.zeros(2, 3, 64, 64, device="meta")
    try:
        import transformers
    except ImportError:
        return
    for name in ("bert", "llama", "opt"):
        config = transformers.AutoConfig.for_model(name, num_hidden_layers=12, use_cache=False)
        yield f"transformers' {name}, 12 layers", lambda config=config: transformers.AutoModel.from_config(config), tokens


def best(build: Callable[[], torch.nn.Module], use: Callable[[torch.nn.Module], object]) -> float:
    """Return the least milliseconds of processor time that a new module takes."""
    least = float("inf")
    for _ in range(REPEATS):
        with torch.device("meta"):
            module = build().eval()
        began = time.process_time()
        use(module)
        least = min(least, time.process_time() - began)
    return 1000 * least


def question(module: torch.nn.Module, given: torch.Tensor) -> float:
    """Return the milliseconds of the activations of a module whose FLOPs for these inputs are known."""
    layer: Any = ps.from_module(module)
    ps.flops(layer, tuple(given.shape))
    began = time.process_time()
    _ = ps.activations(layer, tuple(given.shape)).total
    return 1000 * (time.process_time() - began)


def main() -> None:
    """Print a row for each module."""
    warnings.simplefilter("ignore")
    out = sys.stdout.write
    out(f"{'module':32} {'torch.export':>14} {'read, FLOPs':>14} {'ratio':>7} {'question':>12}\n")
    for name, build, given in modules():
        traced = best(build, lambda module, given=given: torch.export.export(module, (given,), strict=False))
        read = best(build, lambda module, given=given: ps.flops(ps.from_module(module), tuple(given.shape)).total)
        with torch.device("meta"):
            asked = min(question(build().eval(), given) for _ in range(REPEATS))
        late = " *" if read > RATIO * traced or asked > QUESTION else ""
        out(f"{name:32} {traced:11.0f} ms {read:11.0f} ms {read / traced:7.2f} {asked:9.1f} ms{late}\n")
    out(f"* more than {RATIO:g} times a trace, or more than {QUESTION:g} ms for a question\n")


if __name__ == "__main__":
    main()
