"""Quantised checkpoints: packed tensors, their schemes and their unpacked shapes.

Schemes are recognised by the names and dtypes of the tensors stored with a weight:

======================  ==========================================================================================================
GPTQ                    ``qweight`` (int32: in*bits/32, out), ``qzeros``, ``scales`` (groups, out), ``g_idx`` (in)
AWQ                     ``qweight`` (int32: in, out*bits/32), ``qzeros``, ``scales`` (groups, out); no ``g_idx``
bitsandbytes, 4 bits    ``weight`` (uint8: entries/2, 1) with ``weight.absmax``, ``weight.quant_map``, ``weight.quant_state.*``
bitsandbytes, 8 bits    ``weight`` (int8) with ``SCB`` and ``weight_format``
scaled 8 bits           ``weight`` (fp8 or int8) with ``weight_scale_inv``, ``weight_scale``, ``input_scale``
NVFP4                   ``weight_packed`` (uint8: out, in/2), ``weight_scale`` (fp8: out, in/16), ``weight_global_scale``; or
                        ``weight``, ``weight_scale`` and ``weight_scale_2``
compressed-tensors      ``weight_packed`` (int32: out, in*bits/32), ``weight_scale`` (out, groups), ``weight_shape``
MXFP4                   ``x_blocks`` (uint8: ..., blocks, 16) with ``x_scales`` (..., blocks): 32 entries a block; or ``weight_packed``
                        (uint8: out, in/2) with ``weight_scale`` (out, in/32)
======================  ==========================================================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from paramsym.verify.stored import Shape, Stored

_WORD = 32  # bits in the integers that GPTQ and AWQ pack into
_NIBBLES = 2  # 4-bit values in a byte
_NVFP4_GROUP = 16  # values that share a scale


@dataclass(frozen=True)
class Packed:
    """One packed weight: its unpacked ``name``, its stored ``parts``, its ``shape`` or at least its ``entries``."""

    name: str
    scheme: str
    parts: tuple[str, ...]
    shape: Shape | None = None
    entries: int = 0


def unpacked(stored: Stored) -> Stored:
    """Return the same tensors with unpacked names and shapes."""
    groups = [group for find in _SCHEMES for group in find(stored.shapes, stored.dtypes)]
    if not groups:
        return stored
    by_part = {part: group for group in groups for part in group.parts}
    shapes: dict[str, Shape] = {}
    for name, found in stored.shapes.items():
        group = by_part.get(name)
        if group is None:
            shapes[name] = found
        elif group.name not in shapes:
            shapes[group.name] = group.shape if group.shape is not None else (group.entries,)
    return replace(
        stored,
        shapes=shapes,
        packed={group.name: group.scheme for group in groups},
        entries={group.name: group.entries for group in groups if group.shape is None},
    )


def _present(shapes: Mapping[str, Shape], *names: str) -> tuple[str, ...]:
    return tuple(name for name in names if name in shapes)


def _words(shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Iterator[Packed]:
    """GPTQ and AWQ."""
    for name, packed in shapes.items():
        base, dot, last = name.rpartition(".")
        scales = shapes.get(f"{base}{dot}scales")
        if last != "qweight" or scales is None or len(packed) != 2 or len(scales) != 2:
            continue
        parts = _present(shapes, *(f"{base}{dot}{part}" for part in ("qweight", "qzeros", "scales", "g_idx")))
        if packed[1] == scales[1]:
            index = shapes.get(f"{base}{dot}g_idx")
            inputs = index[0] if index else _from_words(packed[0], scales[0])
            yield Packed(f"{base}{dot}weight", "GPTQ", parts, (packed[1], inputs))
        else:
            yield Packed(f"{base}{dot}weight", "AWQ", parts, (scales[1], packed[0]))


def _from_words(words: int, groups: int) -> int:
    """Without the index only the number of words is known; four bits are assumed, and the groups must be equal."""
    for bits in (4, 8, 2, 3):
        inputs = words * _WORD // bits
        if groups and inputs % groups == 0 and (inputs // groups) % _WORD == 0:
            return inputs
    return words * _WORD // 4


def _four_bits(shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Iterator[Packed]:
    for name, packed in shapes.items():
        state = next((other for other in shapes if other.startswith(f"{name}.quant_state.")), None) if f"{name}.absmax" in shapes else None
        if state is None:
            continue
        scheme = "bitsandbytes " + ("nf4" if state.endswith("nf4") else "fp4")
        beside = ("absmax", "quant_map", "nested_absmax", "nested_quant_map")
        yield Packed(name, scheme, (name, state, *_present(shapes, *(f"{name}.{part}" for part in beside))), None, _NIBBLES * prod(packed))


def _compressed(shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Iterator[Packed]:
    """Tensors of compressed-tensors 0.20 and NVIDIA's ModelOpt: rows of words, or of bytes with two values each."""
    for name, packed in shapes.items():
        base, dot, last = name.rpartition(".")
        scale = shapes.get(f"{base}{dot}weight_scale")
        if last not in {"weight_packed", "weight"} or scale is None or len(packed) != 2 or len(scale) != 2:
            continue
        beside = ("weight_scale", "weight_global_scale", "weight_scale_2", "input_global_scale", "input_scale")
        more = ("weight_zero_point", "weight_g_idx", "weight_shape")
        parts = (name, *_present(shapes, *(f"{base}{dot}{part}" for part in (*beside, *more))))
        halves = _present(shapes, f"{base}{dot}weight_global_scale", f"{base}{dot}weight_scale_2")
        if halves and packed[1] * _NIBBLES == scale[1] * _NVFP4_GROUP:
            yield Packed(f"{base}{dot}weight", "NVFP4", parts, (packed[0], packed[1] * _NIBBLES))
        elif f"{base}{dot}weight_shape" in shapes:
            yield Packed(f"{base}{dot}weight", "compressed-tensors", parts, (packed[0], _from_words(packed[1], scale[1])))
        elif last == "weight_packed" and not halves:
            yield Packed(f"{base}{dot}weight", "MXFP4", parts, (packed[0], packed[1] * _NIBBLES))


def _eight_bits(shapes: Mapping[str, Shape], dtypes: Mapping[str, str]) -> Iterator[Packed]:
    for name, packed in shapes.items():
        base, dot, last = name.rpartition(".")
        if last != "weight" or f"{base}{dot}weight_scale_2" in shapes:
            continue
        eight = _present(shapes, f"{base}{dot}SCB", f"{base}{dot}weight_format")
        if f"{base}{dot}SCB" in eight:
            yield Packed(name, "bitsandbytes int8", (name, *eight), packed)
            continue
        scales = _present(shapes, *(f"{base}{dot}{part}" for part in ("weight_scale_inv", "weight_scale", "input_scale")))
        if any(part.startswith(f"{base}{dot}weight_scale") for part in scales):
            kind = dtypes.get(name, "")
            yield Packed(name, f"scaled {kind or '8 bits'}", (name, *scales), packed)


def _blocks(shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Iterator[Packed]:
    for name, packed in shapes.items():
        base = name.removesuffix("_blocks")
        if base != name and shapes.get(f"{base}_scales") == packed[:-1] and packed[-1:] == (16,):
            yield Packed(base, "MXFP4", (name, f"{base}_scales"), (*packed[:-2], packed[-2] * 32))


_SCHEMES: tuple[Callable[[Mapping[str, Shape], Mapping[str, str]], Iterator[Packed]], ...] = (
    _words,
    _four_bits,
    _compressed,
    _eight_bits,
    _blocks,
)
