"""The options of the commands about costs: the keyword arguments of the functions, in the spelling of a shell.

The functions check the names of formats, conventions and optimizers, and their errors list the known ones. This file loads only argparse.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from paramsym.arguments import amount


@dataclass(frozen=True)
class Option:
    """One option: the word for its value in the help, the help, and its kind: a word, a number, a flag, or a flag with a ``--no-`` form."""

    metavar: str
    help: str
    kind: Literal["word", "whole", "count", "amount", "flag", "either"] = "word"


OPTIONS: Mapping[str, Option] = {
    "way": Option("WAY", "which pass of FLOPs: forward (the default), backward or both"),
    "per": Option("SHARE", "the cost of the whole batch (the default), of one sequence or of one token"),
    "convention": Option("NAME", "the convention of counting, such as megatron or torch-sdpa"),
    "dtype": Option("FORMAT", "the format of the numbers, such as bfloat16"),
    "weights": Option("FORMAT", "the format of the weights, such as gguf-q4_0; in training, of frozen weights"),
    "gradients": Option("FORMAT", "the format of the gradients, if it differs from --dtype"),
    "cache": Option("FORMAT", "the format of the cache, if it differs from --dtype"),
    "optimizer": Option("NAME", "the optimizer, such as adamw, adafactor or muon"),
    "master": Option("", "count a copy of the trained weights in float32, or none", "either"),
    "recompute": Option("WHAT", "which activations the backward pass computes again: none, selective or full"),
    "tensor": Option("N", "split matrices over N devices", "whole"),
    "sequence": Option("", "with --tensor, also split the positions of the other operations", "flag"),
    "context": Option("N", "split the positions over N devices", "whole"),
    "pipeline": Option("N", "split the blocks into N stages", "whole"),
    "interleaved": Option("N", "split each stage into N pieces", "whole"),
    "expert": Option("N", "split the experts of a mixture over N devices", "whole"),
    "zero": Option("STAGE", "ZeRO: split states (1), gradients (2), weights (3) over --devices", "count"),
    "devices": Option("N", "the number of devices", "whole"),
    "loss": Option("NAME", "what the loss holds: none, cross-entropy, cross-entropy-float32, vocab-parallel, chunked or cut"),
    "sharing": Option("NAME", "the kind of parallelism, such as data, fsdp or tensor"),
    "past": Option("N", "count one decoding step after N positions", "count"),
    "input_gradients": Option("", "the inputs need gradients, too", "flag"),
    "tokens": Option("N", "the number of training tokens, such as 300B", "amount"),
    "machine": Option("NAME", "the device, such as h100 or a100"),
    "utilisation": Option("SHARE", 'the share of the stated speed that is reached, such as "40 %%"'),
}
"""All options, by the name of the keyword argument."""
_SHARES = ("tensor", "sequence", "context", "pipeline", "interleaved", "expert")
TAKES: Mapping[str, tuple[str, ...]] = {
    "flops": ("way", "convention", "per", "past", "input_gradients", "recompute", "tensor", "context", "pipeline", "expert"),
    "macs": ("way", "per", "past", "input_gradients"),
    "activations": ("convention", "dtype", "recompute", *_SHARES, "input_gradients", "loss"),
    "cache": ("dtype", "per", "past"),
    "memory": (
        *("dtype", "weights", "cache", "gradients", "optimizer", "master", "convention", "recompute"),
        *(*_SHARES, "zero", "devices", "loss"),
    ),
    "traffic": ("dtype", "past"),
    "communication": ("sharing", "devices", "dtype"),
    "intensity": ("dtype", "past", "machine"),
    "training": ("tokens", "devices", "machine", "utilisation", "convention"),
}
"""The options of each command. Memory's ``--inference`` is the argument ``use``; intensity's ``--machine`` is that of its method ``on``."""
COSTS = tuple(name for name in TAKES if name not in {"intensity", "training"})
"""Commands whose answer is a cost that ``explain`` and ``reconcile`` take with ``--of``."""


def add_options(command: argparse.ArgumentParser, *names: str) -> None:
    """Add the options of some commands, each once."""
    for name in dict.fromkeys(option for one in names for option in TAKES[one]):
        option = OPTIONS[name]
        needed = names == ("training",) and name == "tokens"
        how: dict[str, Any]
        if option.kind == "flag":
            how = {"action": "store_const", "const": True}
        elif option.kind == "either":
            how = {"action": argparse.BooleanOptionalAction}
        else:
            read = {"word": str, "whole": number(1), "count": number(0), "amount": _amount}[option.kind]
            how = {"metavar": option.metavar, "type": read, "required": needed}
        command.add_argument(f"--{spelled(name)}", dest=name, default=None, help=option.help, **how)
    if "memory" in names:
        command.add_argument("--inference", action="store_true", help="the memory of inference instead of training")


def spelled(name: str) -> str:
    """Return an option's name in the spelling of a shell."""
    return name.replace("_", "-")


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, under the names of keyword arguments."""
    found = {name: value for name in OPTIONS if (value := getattr(arguments, name, None)) is not None}
    return found | ({"use": "inference"} if getattr(arguments, "inference", False) else {})


def number(least: int, wrong: str = "found {!a}; wanted a whole number, {} or more") -> Callable[[str], int]:
    """Return a reader of whole numbers from a least one; ``wrong`` is its error, with places for the text and the least number."""

    def read(text: str) -> int:
        if text.isascii() and text.isdigit() and len(text) < 9 and int(text) >= least:
            return int(text)
        raise argparse.ArgumentTypeError(wrong.format(text[:20], least))

    return read


def _amount(text: str) -> int:
    """Read a whole number, with or without a unit, such as 1.4T."""
    found = amount(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text[:20]!a} is not a whole number; write it as 300000, 300B or 1.4T")
    return found
