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

from collections.abc import Mapping
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
    scopes = {name: name[: name.rfind(".") + 1] for name in stored.shapes}
    found = (find(name, scope, stored.shapes, stored.dtypes) for find in _SCHEMES for name, scope in scopes.items())
    groups = [group for group in found if group is not None]
    if not groups:
        return stored
    by_part = {part: group for group in groups for part in group.parts}
    shapes: dict[str, Shape] = {}
    for name, stated in stored.shapes.items():
        group = by_part.get(name)
        if group is None:
            shapes[name] = stated
        elif group.name not in shapes:
            shapes[group.name] = group.shape if group.shape is not None else (group.entries,)
    return replace(
        stored,
        shapes=shapes,
        packed={group.name: group.scheme for group in groups},
        entries={group.name: group.entries for group in groups if group.shape is None},
    )


def _present(shapes: Mapping[str, Shape], scope: str, names: str) -> tuple[str, ...]:
    return tuple(f"{scope}{name}" for name in names.split() if f"{scope}{name}" in shapes)


def _words(name: str, scope: str, shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Packed | None:
    """GPTQ and AWQ."""
    packed, scales = shapes[name], shapes.get(f"{scope}scales", ())
    if name != f"{scope}qweight" or len(packed) != 2 or len(scales) != 2:
        return None
    parts = _present(shapes, scope, "qweight qzeros scales g_idx")
    if packed[1] != scales[1]:
        return Packed(f"{scope}weight", "AWQ", parts, (scales[1], packed[0]))
    index = shapes.get(f"{scope}g_idx")
    return Packed(f"{scope}weight", "GPTQ", parts, (packed[1], index[0] if index else _from_words(packed[0], scales[0])))


def _from_words(words: int, groups: int) -> int:
    """Without the index only the number of words is known; four bits are assumed, and the groups must be equal."""
    for bits in (4, 8, 2, 3):
        inputs = words * _WORD // bits
        if groups and inputs % groups == 0 and (inputs // groups) % _WORD == 0:
            return inputs
    return words * _WORD // 4


def _four_bits(name: str, _scope: str, shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Packed | None:
    state = next((other for other in shapes if other.startswith(f"{name}.quant_state.")), None) if f"{name}.absmax" in shapes else None
    if state is None:
        return None
    parts = (name, state, *_present(shapes, f"{name}.", "absmax quant_map nested_absmax nested_quant_map"))
    return Packed(name, f"bitsandbytes {'nf4' if state.endswith('nf4') else 'fp4'}", parts, None, _NIBBLES * prod(shapes[name]))


def _compressed(name: str, scope: str, shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Packed | None:
    """Tensors of compressed-tensors 0.20 and NVIDIA's ModelOpt: rows of words, or of bytes with two values each."""
    packed, scale = shapes[name], shapes.get(f"{scope}weight_scale", ())
    if name not in {f"{scope}weight_packed", f"{scope}weight"} or len(packed) != 2 or len(scale) != 2:
        return None
    beside = "weight_scale weight_global_scale weight_scale_2 input_global_scale input_scale weight_zero_point weight_g_idx weight_shape"
    parts = (name, *_present(shapes, scope, beside))
    halves = _present(shapes, scope, "weight_global_scale weight_scale_2")
    if halves and packed[1] * _NIBBLES == scale[1] * _NVFP4_GROUP:
        return Packed(f"{scope}weight", "NVFP4", parts, (packed[0], packed[1] * _NIBBLES))
    if f"{scope}weight_shape" in shapes:
        return Packed(f"{scope}weight", "compressed-tensors", parts, (packed[0], _from_words(packed[1], scale[1])))
    if name == f"{scope}weight_packed" and not halves:
        return Packed(f"{scope}weight", "MXFP4", parts, (packed[0], packed[1] * _NIBBLES))
    return None


def _eight_bits(name: str, scope: str, shapes: Mapping[str, Shape], dtypes: Mapping[str, str]) -> Packed | None:
    if name != f"{scope}weight" or f"{scope}weight_scale_2" in shapes:
        return None
    if f"{scope}SCB" in shapes:
        return Packed(name, "bitsandbytes int8", (name, *_present(shapes, scope, "SCB weight_format")), shapes[name])
    if not _present(shapes, scope, "weight_scale_inv weight_scale"):
        return None
    parts = (name, *_present(shapes, scope, "weight_scale_inv weight_scale input_scale"))
    return Packed(name, f"scaled {dtypes.get(name) or '8 bits'}", parts, shapes[name])


def _blocks(name: str, _scope: str, shapes: Mapping[str, Shape], _dtypes: Mapping[str, str]) -> Packed | None:
    base, packed = name.removesuffix("_blocks"), shapes[name]
    if base == name or shapes.get(f"{base}_scales") != packed[:-1] or packed[-1:] != (16,):
        return None
    return Packed(base, "MXFP4", (name, f"{base}_scales"), (*packed[:-2], packed[-2] * 32))


_SCHEMES = (_words, _four_bits, _compressed, _eight_bits, _blocks)
