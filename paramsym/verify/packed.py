"""Quantised checkpoints (GPTQ, AWQ, bitsandbytes and others): packed tensors, their schemes and their unpacked shapes.

A scheme states the tensors that it stores for one weight: their shapes, by the weight's shape, its bits and the size of its groups, and
their kinds of numbers. A stored weight is read as the scheme, bits and groups that fit the most of its tensors; the tensors that do not
fit are its faults.

======================  ==========================================================================================================
GPTQ                    ``qweight`` (int32: in*bits/32, out), ``qzeros`` (groups, out*bits/32), ``scales`` (groups, out), ``g_idx`` (in)
AWQ                     ``qweight`` (int32: in, out*bits/32), ``qzeros`` (groups, out*bits/32), ``scales`` (groups, out)
bitsandbytes, 4 bits    ``weight`` (uint8: entries/2, 1) with ``weight.absmax`` (entries/64), ``weight.quant_map`` (16) and
                        ``weight.quant_state.*``; if ``absmax`` is packed, too, ``weight.nested_absmax`` and ``weight.nested_quant_map``
bitsandbytes, 8 bits    ``weight`` (int8: out, in) with ``SCB`` (out) and ``weight_format``
scaled 8 bits           ``weight`` (fp8 or int8: out, in) with ``weight_scale_inv`` or ``weight_scale``: one for the tensor, one for each
                        row, for each group of a row, or for each block of 128 x 128
NVFP4                   ``weight_packed`` (uint8: out, in/2), ``weight_scale`` (fp8: out, in/16), ``weight_global_scale``; or
                        ``weight``, ``weight_scale`` and ``weight_scale_2``
compressed-tensors      ``weight_packed`` (int32: out, in*bits/32), ``weight_scale`` (out, groups), ``weight_shape`` (2)
MXFP4                   ``x_blocks`` (uint8: ..., blocks, 16) with ``x_scales`` (..., blocks): 32 entries a block; or ``weight_packed``
                        (uint8: out, in/2) with ``weight_scale`` (out, in/32)
======================  ==========================================================================================================

Sources: AutoGPTQ 0.7 and GPTQModel 5 (``QuantLinear``), AutoAWQ 0.2 (``WQLinear_GEMM``), bitsandbytes 0.48 (``QuantState.as_dict``,
``Linear8bitLt``), transformers 5.23 (``FP8Linear``, ``Mxfp4GptOssExperts``), compressed-tensors 0.20, NVIDIA ModelOpt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod
from typing import TypeAlias

from paramsym.verify.stored import SCALED, Packed, Shape, Stored, kind

_WORD = 32  # bits in the integers that GPTQ and AWQ pack into
_NIBBLES = 2  # 4-bit values in a byte
_NVFP4_GROUP, _MXFP4_GROUP = 16, 32  # values that share a scale
_NESTED = 256  # scales of bitsandbytes that share a scale of scales
_GROUPS = (128, 64, 32, 256, 16, 512, 1024)
_BLOCKS = (64, 128, 32, 256, 512, 1024, 2048, 4096)
"""The sizes of groups and of bitsandbytes' blocks that the libraries offer, the usual one first."""
_ONE: tuple[Shape, ...] = ((), (1,))
_PARTS = (
    *("qweight", "qzeros", "scales", "g_idx", "SCB", "weight_format", "weight", "weight_packed", "weight_scale_inv", "weight_scale"),
    *("weight_scale_2", "weight_global_scale", "weight_zero_point", "weight_g_idx", "weight_shape", "input_scale", "input_global_scale"),
    *("input_zero_point", "activation_scale", "input_scale_ub", "weight.absmax", "weight.quant_map", "weight.nested_absmax"),
    *("weight.nested_quant_map", "weight.quant_state.bitsandbytes__nf4", "weight.quant_state.bitsandbytes__fp4"),
)
_MARKS = frozenset(part for part in _PARTS if part.startswith("weight") and part != "weight") | {"SCB"}
"""A ``weight`` is packed if one of these is stored beside it."""


@dataclass(frozen=True)
class Setting:
    """The ``bits`` and the ``group`` that a configuration states, as in ``Packed``."""

    bits: int | None = None
    group: str | None = None


@dataclass(frozen=True)
class _Part:
    """A tensor that a scheme stores: its possible shapes (empty: any), its kinds of numbers, and whether it must be there."""

    shapes: tuple[Shape, ...]
    kinds: str
    needed: bool = True


@dataclass(frozen=True)
class _Reading:
    """One way to read a weight: its shape or the number of its entries, and the tensors that are stored in this way."""

    scheme: str
    shape: Shape | None
    parts: Mapping[str, _Part]
    bits: int
    group: str
    entries: int = 0

    def unlike(self, setting: Setting) -> bool:
        return setting.bits not in {None, self.bits} or setting.group not in {None, self.group}

    def faults(self, stored: _Stored) -> list[str]:
        """Return what is wrong with the stored tensors if they are to be read in this way."""
        there = dict(stored)
        words = [f"{name} is missing" for name, part in self.parts.items() if part.needed and name not in there]
        for name, (shape, found) in there.items():
            part = self.parts.get(name)
            if part is None:
                words.append(f"{name} is no part of it")
            elif part.shapes and shape not in part.shapes:
                words.append(f"{name} is {shape}, not {part.shapes[0]}")
            elif found and found not in part.kinds.split():
                words.append(f"{name} is {found}, not {part.kinds.replace(' ', ' or ')}")
        return words


_Stored: TypeAlias = tuple[tuple[str, tuple[Shape, str]], ...]
"""The tensors that are stored for one weight: the shape and the kind of each, by its name beside the weight."""


def unpacked(stored: Stored, setting: Setting | None = None) -> Stored:
    """Return the same tensors with unpacked names and shapes; of several ways to read a weight, the one of the setting is preferred."""
    groups = dict(_groups(stored))
    if not groups:
        return stored
    wanted = setting or Setting()
    packed = {name: _packed(_kinds(stored, parts), wanted) for name, parts in groups.items()}
    for scheme, usual in _usual(packed.values()).items():
        for name, found in packed.items():
            if found.scheme == scheme and _blocked(found) and found.group != usual:
                other = _packed(_kinds(stored, groups[name]), replace(wanted, group=usual))
                words = f"a scale for each {found.group} entries, where the other weights have one for each {usual}"
                packed[name] = replace(other, faults=other.faults or (() if other.group == usual else (words,)))
    by_part = {part: name for name, parts in groups.items() for part in parts.values()}
    shapes: dict[str, Shape] = {}
    for name, stated in stored.shapes.items():
        whole = by_part.get(name)
        if whole is None and name not in packed:
            shapes[name] = stated
        elif whole is None:
            packed[name] = replace(packed[name], faults=(*packed[name].faults, f"{name} is stored unpacked, too"))
        elif whole not in shapes:
            shapes[whole] = packed[whole].shapes[0] if packed[whole].shapes else (packed[whole].entries,)
    return replace(stored, shapes=shapes, packed=packed)


def _usual(packed: Iterable[Packed]) -> dict[str, str]:
    """Return the usual block of each scheme that has one size of blocks in a file."""
    counted: dict[str, Counter[str]] = {}
    for found in packed:
        if _blocked(found):
            counted.setdefault(found.scheme, Counter())[found.group] += 1
    return {scheme: groups.most_common(1)[0][0] for scheme, groups in counted.items()}


def _blocked(found: Packed) -> bool:
    return found.scheme.startswith("bitsandbytes") or "x" in found.group


def _groups(stored: Stored) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield each packed weight: its unpacked name, and the names of its tensors."""
    shapes = stored.shapes
    for name in shapes:
        scope, _, last = name.rpartition(".")
        scope = f"{scope}." if scope else ""
        there: dict[str, str] = {}
        if last in {"qweight", "weight_packed", "weight"}:
            there = {part: f"{scope}{part}" for part in _PARTS if f"{scope}{part}" in shapes}
        if last != "weight":
            there.pop("weight", None)
        base = name.removesuffix("_blocks")
        if last == "weight" and {"qweight", "weight_packed"} & there.keys():
            continue
        if len(there) > 1 and (last != "weight" or _MARKS & there.keys()):
            yield f"{scope}weight", there
        elif base != name and f"{base}_scales" in shapes:
            yield base, {"blocks": name, "scales": f"{base}_scales"}
        elif (scales := f"{name}_scale_inv") in shapes:
            yield name, {"weight": name, "weight_scale_inv": scales}


def _kinds(stored: Stored, parts: Mapping[str, str]) -> _Stored:
    return tuple((part, (stored.shapes[name], kind(stored.dtypes.get(name, "")))) for part, name in parts.items())


@lru_cache(maxsize=4096)
def _packed(stored: _Stored, setting: Setting) -> Packed:
    """Read one weight in the way that fits best; copies in other blocks have equal tensors, so the answer is cached."""
    shapes = {part: shape for part, (shape, _) in stored}
    readings = [reading for scheme in _SCHEMES for reading in scheme(shapes, setting)]
    if not readings:
        ((_, (shape, _)), *_) = stored
        return Packed("an unknown scheme", (shape,), faults=("its tensors fit no scheme that is read",))
    judged = [(len(reading.faults(stored)), reading.unlike(setting), order, reading) for order, reading in enumerate(readings)]
    faults, unlike, _, best = min(judged)
    others = (one for number, other, _, one in judged if (number, other, one.scheme) == (faults, unlike, best.scheme))
    possible = dict.fromkeys(one.shape for one in others if one.shape is not None)
    return Packed(best.scheme, tuple(possible), best.entries, best.bits, best.group, tuple(best.faults(stored)))


# The schemes ------------------------------------------------------------------------------------------------------------------


def _sizes(inputs: int, counts: Iterable[int], setting: Setting) -> Iterator[tuple[str, int]]:
    """Yield the groups, with their number in a row, that give one of the found numbers of scales; if there are none, a usual one."""
    wanted = _number(setting.group)
    sizes = {setting.group: wanted} if wanted and setting.group else {}
    sizes |= {"channel": inputs} | {str(size): size for size in _GROUPS if size <= inputs}
    numbers = {word: _times(inputs, size) for word, size in sizes.items()}
    found = {word: number for word, number in numbers.items() if number in counts}
    yield from (found or dict([next((pair for pair in numbers.items() if pair[0] == "128"), next(iter(numbers.items())))])).items()


def _number(word: str | None) -> int:
    return int(word) if word is not None and word.isdecimal() else 0


def _times(whole: int, size: int) -> int:
    return -(-whole // size) if size else 0


def _axis(shapes: Mapping[str, Shape], part: str, axis: int) -> tuple[int, ...]:
    """Return an extent of a matrix or a vector, if it is stored."""
    shape = shapes.get(part, ())
    return (shape[axis],) if len(shape) > axis else ()


def _gptq(shapes: Mapping[str, Shape], setting: Setting) -> Iterator[_Reading]:
    words, counts = shapes.get("qweight", ()), {*_axis(shapes, "scales", 0), *_axis(shapes, "qzeros", 0)}
    if len(words) != 2:
        return
    for out in dict.fromkeys((*_axis(shapes, "scales", 1), words[1])):
        for bits in (4, 8, 2, 3):
            for inputs in dict.fromkeys((*_axis(shapes, "g_idx", 0), words[0] * _WORD // bits)):
                for group, number in _sizes(inputs, counts, setting):
                    parts = {
                        "qweight": _Part(((inputs * bits // _WORD, out),), "int32"),
                        "qzeros": _Part(((number, out * bits // _WORD),), "int32"),
                        "scales": _Part(((number, out),), "float"),
                        "g_idx": _Part(((inputs,),), "int32 int64", needed=False),
                    }
                    yield _Reading("GPTQ", (out, inputs), parts, bits, group)


def _awq(shapes: Mapping[str, Shape], setting: Setting) -> Iterator[_Reading]:
    words, counts = shapes.get("qweight", ()), {*_axis(shapes, "scales", 0), *_axis(shapes, "qzeros", 0)}
    if len(words) != 2:
        return
    for bits in (4, 8):
        for out in dict.fromkeys((*_axis(shapes, "scales", 1), words[1] * _WORD // bits)):
            for group, number in _sizes(words[0], counts, setting):
                parts = {
                    "qweight": _Part(((words[0], out * bits // _WORD),), "int32"),
                    "qzeros": _Part(((number, out * bits // _WORD),), "int32"),
                    "scales": _Part(((number, out),), "float"),
                }
                yield _Reading("AWQ", (out, words[0]), parts, bits, group)


def _four_bits(shapes: Mapping[str, Shape], setting: Setting) -> Iterator[_Reading]:
    if not any(part.startswith("weight.") for part in shapes) or "weight" not in shapes:
        return
    stored = prod(shapes["weight"])
    for size, kinds in ((1, "uint8"), (2, "float"), (4, "float")):  # bytes of the numbers that hold the values
        entries = _NIBBLES * stored * size
        sizes = {word: size for word, size in ((str(block), block) for block in (_number(setting.group), *_BLOCKS)) if size}
        found = [word for word, block in sizes.items() if _axis(shapes, "weight.absmax", 0) == (_times(entries, block),)]
        for word in found or [str(_BLOCKS[0])]:
            scales = _times(entries, sizes[word])
            for nested in (False, True):
                parts = {
                    "weight": _Part(((stored, 1), (1, stored)), kinds),
                    "weight.absmax": _Part(((scales,),), "uint8" if nested else "float"),
                    "weight.quant_map": _Part(((16,),), "float"),
                }
                if nested:
                    parts["weight.nested_absmax"] = _Part(((_times(scales, _NESTED),),), "float")
                    parts["weight.nested_quant_map"] = _Part(((_NESTED,),), "float")
                for values in ("nf4", "fp4"):
                    state = {f"weight.quant_state.bitsandbytes__{values}": _Part((), "uint8")}
                    yield _Reading(f"bitsandbytes {values}", None, parts | state, 4, word, entries)


def _eight_bits(shapes: Mapping[str, Shape], _setting: Setting) -> Iterator[_Reading]:
    weight = shapes.get("weight", ())
    if "SCB" in shapes and len(weight) == 2:
        parts = {
            "weight": _Part((weight,), "int8"),
            "SCB": _Part((weight[:1],), "float"),
            "weight_format": _Part(_ONE, "uint8", needed=False),
        }
        yield _Reading("bitsandbytes int8", weight, parts, 8, "channel")


def _scaled(shapes: Mapping[str, Shape], setting: Setting) -> Iterator[_Reading]:
    weight = shapes.get("weight", ())
    if len(weight) < 2 or "weight_scale_2" in shapes:
        return
    (*lead, out, inputs), beside = weight, _beside()
    square = [block for block in (setting.group, *(f"{size}x{size}" for size in _GROUPS)) if block and "x" in block]
    scales: dict[str, tuple[Shape, ...]] = {"tensor": (*_ONE, tuple(lead)), "channel": ((*lead, out, 1), (*lead, out))}
    if lead:
        scales |= {"matrix": ((*lead, 1, 1),), "column": ((*lead, 1, inputs),)}
    for block in square:
        high, wide = (int(size) for size in block.split("x"))
        scales.setdefault(block, ((*lead, _times(out, high), _times(inputs, wide)),))
    scales |= {str(size): ((*lead, out, _times(inputs, size)),) for size in _GROUPS if size < inputs}
    for name in ("weight_scale_inv", "weight_scale"):
        found = {word: known for word, known in scales.items() if shapes.get(name) in known} if name in shapes else {}
        for word, known in (found or {"128x128": scales["128x128"]} if name in shapes else {}).items():
            parts = {
                "weight": _Part((weight,), "float8 int8"),
                name: _Part(known, "float float8 uint8"),
                "weight_zero_point": _Part(known, "int8 float8", needed=False),
            }
            yield _Reading(SCALED, weight, parts | beside, 8, word)


def _beside() -> dict[str, _Part]:
    """Return the parts that may be beside a scaled weight: the scales of activations, one a tensor."""
    names = ("input_scale", "activation_scale", "input_scale_ub", "input_global_scale")
    return {name: _Part(_ONE, "float", needed=False) for name in names} | {"input_zero_point": _Part(_ONE, "int8 float8", needed=False)}


def _nibbles(shapes: Mapping[str, Shape], _setting: Setting) -> Iterator[_Reading]:
    """NVFP4 and MXFP4: two values in a byte."""
    for packed, whole in (("weight_packed", "weight_global_scale"), ("weight", "weight_scale_2")):
        words = shapes.get(packed, ())
        if len(words) != 2 or "weight_shape" in shapes or (packed == "weight" and whole not in shapes):
            continue
        out = words[0]
        for inputs in dict.fromkeys((words[1] * _NIBBLES, *(number * _NVFP4_GROUP for number in _axis(shapes, "weight_scale", 1)))):
            parts = {
                packed: _Part(((out, inputs // _NIBBLES),), "uint8"),
                "weight_scale": _Part(((out, _times(inputs, _NVFP4_GROUP)),), "float8"),
                whole: _Part(_ONE, "float"),
            }
            yield _Reading("NVFP4", (out, inputs), parts | _beside(), 4, str(_NVFP4_GROUP))
        if packed == "weight_packed":
            inputs = words[1] * _NIBBLES
            parts = {packed: _Part((words,), "uint8"), "weight_scale": _Part(((out, _times(inputs, _MXFP4_GROUP)),), "uint8 float8")}
            yield _Reading("MXFP4", (out, inputs), parts | _beside(), 4, str(_MXFP4_GROUP))


def _compressed(shapes: Mapping[str, Shape], setting: Setting) -> Iterator[_Reading]:
    words = shapes.get("weight_packed", ())
    if len(words) != 2 or "weight_shape" not in shapes:
        return
    for bits in (4, 8, 2):
        values = _WORD // bits
        for inputs in dict.fromkeys((*_axis(shapes, "weight_g_idx", 0), words[1] * values)):
            for group, number in _sizes(inputs, {*_axis(shapes, "weight_scale", 1)}, setting):
                parts = {
                    "weight_packed": _Part(((words[0], _times(inputs, values)),), "int32"),
                    "weight_scale": _Part(((words[0], number),), "float"),
                    "weight_shape": _Part(((2,),), "int64 int32"),
                    "weight_zero_point": _Part(((_times(words[0], values), number),), "int32", needed=False),
                    "weight_g_idx": _Part(((inputs,),), "int32 int64", needed=False),
                }
                yield _Reading("compressed-tensors", (words[0], inputs), parts | _beside(), bits, group)


def _blocks(shapes: Mapping[str, Shape], _setting: Setting) -> Iterator[_Reading]:
    packed = shapes.get("blocks", ())
    if len(packed) >= 2:
        half = _MXFP4_GROUP // _NIBBLES
        parts = {"blocks": _Part(((*packed[:-1], half),), "uint8"), "scales": _Part((packed[:-1],), "uint8 float8")}
        yield _Reading("MXFP4", (*packed[:-2], packed[-2] * _MXFP4_GROUP), parts, 4, str(_MXFP4_GROUP))


_SCHEMES = (_gptq, _awq, _four_bits, _eight_bits, _compressed, _nibbles, _scaled, _blocks)
