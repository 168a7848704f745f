"""The options of commands about costs: the keyword arguments of the functions, as a shell spells them.

Names of formats, conventions and optimizers are checked by the functions, whose errors list what is known; only argparse is loaded here.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_AMOUNT = re.compile(r"(?a)(\d{1,18})(?:\.(\d{1,18}))?([KMBT]?)")
_UNITS = {"": 0, "K": 3, "M": 6, "B": 9, "T": 12}


@dataclass(frozen=True)
class Option:
    """One option: what follows it, its help, and whether it is a word, a whole number, a flag, or a flag with a ``--no-`` form."""

    metavar: str
    help: str
    kind: Literal["word", "whole", "count", "amount", "flag", "either"] = "word"


OPTIONS: Mapping[str, Option] = {
    "way": Option("WAY", "which pass of FLOPs: forward (the default), backward or both"),
    "per": Option("SHARE", "of the whole batch (the default), of one sequence or one token"),
    "convention": Option("NAME", "how it is counted, such as megatron or torch-sdpa"),
    "dtype": Option("FORMAT", "the format of the numbers, such as bfloat16"),
    "weights": Option("FORMAT", "that of the weights, such as gguf-q4_0; in training of the frozen ones"),
    "gradients": Option("FORMAT", "that of the gradients, where it is another"),
    "cache": Option("FORMAT", "that of the cache, where it is another"),
    "optimizer": Option("NAME", "whose states are held, such as adamw, adafactor or muon"),
    "master": Option("", "a copy of the trained weights in float32", "either"),
    "recompute": Option("WHAT", "what is computed again: none, selective or full"),
    "tensor": Option("N", "share matrices over N devices", "whole"),
    "sequence": Option("", "share the positions between the matrices as well", "flag"),
    "context": Option("N", "share the positions over N devices", "whole"),
    "pipeline": Option("N", "cut the blocks into N stages", "whole"),
    "interleaved": Option("N", "each stage in N pieces", "whole"),
    "zero": Option("STAGE", "share states (1), gradients (2), weights (3) over --devices", "count"),
    "devices": Option("N", "how many devices share or work", "whole"),
    "sharing": Option("NAME", "how the model is shared, such as data, fsdp or tensor"),
    "past": Option("N", "one step after N positions", "count"),
    "input_gradients": Option("", "with gradients for the inputs", "flag"),
    "tokens": Option("N", "how many tokens are trained on, such as 300B", "amount"),
    "machine": Option("NAME", "the device, such as h100 or a100"),
    "utilisation": Option("SHARE", 'the share of its stated speed, such as "40 %%"'),
}
"""Every option by the name of the keyword argument."""
_SHARES = ("tensor", "sequence", "context", "pipeline", "interleaved")
TAKES: Mapping[str, tuple[str, ...]] = {
    "flops": ("way", "convention", "per", "past", "input_gradients"),
    "macs": ("way", "per", "past", "input_gradients"),
    "activations": ("convention", "dtype", "recompute", *_SHARES, "input_gradients"),
    "cache": ("dtype", "past"),
    "memory": (
        *("dtype", "weights", "cache", "gradients", "optimizer", "master", "convention", "recompute"),
        *(*_SHARES, "zero", "devices"),
    ),
    "traffic": ("dtype", "past"),
    "communication": ("sharing", "devices", "dtype"),
    "intensity": ("dtype", "past", "machine"),
    "training": ("tokens", "devices", "machine", "utilisation", "convention"),
}
"""The options of each command. ``--inference`` of memory is its ``use``, and intensity asks ``on`` the machine."""
COSTS = tuple(name for name in TAKES if name not in {"intensity", "training"})
"""Commands whose answer is a cost, of which ``explain`` and ``reconcile`` can be asked."""


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
            read = {"word": str, "whole": whole, "count": _count, "amount": _amount}[option.kind]
            how = {"metavar": option.metavar, "type": read, "required": needed}
        command.add_argument(f"--{spelled(name)}", dest=name, default=None, help=option.help, **how)
    if "memory" in names:
        command.add_argument("--inference", action="store_true", help="the memory of inference instead of training")


def spelled(name: str) -> str:
    """Return an option's name as a shell has it."""
    return name.replace("_", "-")


def given(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the options that were given, under the names of keyword arguments."""
    found = {name: value for name in OPTIONS if (value := getattr(arguments, name, None)) is not None}
    return found | ({"use": "inference"} if getattr(arguments, "inference", False) else {})


def whole(text: str) -> int:
    """Read a whole number from 1."""
    return _number(text, 1)


def _count(text: str) -> int:
    return _number(text, 0)


def _number(text: str, least: int) -> int:
    if text.isascii() and text.isdigit() and len(text) < 9 and int(text) >= least:
        return int(text)
    message = f"{text[:20]!a} is no whole number from {least}"
    raise argparse.ArgumentTypeError(message)


def _amount(text: str) -> int:
    """Read a whole number that may be written with a unit, as 1.4T is."""
    found = _AMOUNT.fullmatch(text.strip())
    before, behind, unit = found.groups(default="") if found else ("", "", "")
    zeros = _UNITS[unit] - len(behind)
    if not found or zeros < 0:
        message = f"{text[:20]!a} is no whole number, such as 300000, 300B or 1.4T"
        raise argparse.ArgumentTypeError(message)
    return int(before + behind) * 10**zeros
