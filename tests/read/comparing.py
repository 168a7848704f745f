"""What torch itself computes, counts and keeps, to compare a read module with."""

from __future__ import annotations

import warnings
import weakref
from dataclasses import dataclass
from math import prod
from typing import Any

import pytest

torch = pytest.importorskip("torch")


def results(output: Any) -> list[Any]:
    """Return the arrays that a module returned."""
    if isinstance(output, dict):
        output = tuple(output.values())
    return list(output) if isinstance(output, tuple | list) else [output]


def counted(module: Any, given: list[Any]) -> tuple[int, int]:
    """Return the FLOPs of torch's counter, forward and both ways."""
    return counted_on(module, {}, *given)


def counted_on(module: Any, named: dict[str, Any], *given: Any) -> tuple[int, int]:
    """Return the FLOPs of torch's counter, forward and both ways; attention is computed step by step, because fused kernels count nothing.

    The counter multiplies the weight gradient of a grouped convolution by the number of groups, and knows no product with a vector; it has
    rules for these here, and for grouped products, distances and affine grids. An LSTM is computed step by step, because the kernel for a
    CPU counts nothing.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode, conv_flop_count

    def conv_backward(grad: Any, x: Any, w: Any, *rest: Any, **_: Any) -> int:
        transposed, mask = rest[4], rest[7]
        return (mask[0] + mask[1]) * conv_flop_count(x, w, grad, transposed=transposed)

    def with_vector(x: Any, _: Any, **__: Any) -> int:
        return 2 * prod(x)

    def added(_: Any, x: Any, y: Any, **__: Any) -> int:
        return 2 * prod(x) * prod(y[2:])

    def affine(theta: Any, size: Any, *_: Any, **__: Any) -> int:
        return 2 * prod(theta) * prod(size[2:])

    def grouped(x: Any, y: Any, *_: Any, **__: Any) -> int:
        return 2 * prod(x[-2:]) * y[-1]  # each row, or each column, is multiplied by one of the groups

    def distances(x: Any, y: Any, **_: Any) -> int:
        return 2 * prod(x) * y[-2]  # the squares of sums, of which a product gives the mixed terms

    aten = torch.ops.aten
    rules = {
        aten.convolution_backward: conv_backward,
        aten.mv: with_vector,
        aten.dot: with_vector,
        aten.vdot: with_vector,
        aten.addmv: added,
        aten.addbmm: added,
        aten._grouped_mm: grouped,
        aten._euclidean_dist: distances,
        aten.affine_grid_generator: affine,
    }
    counter = FlopCounterMode(display=False, custom_mapping=rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about number formats of other devices
        with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False), counter:
            output = [one for one in results(module(*given, **named)) if isinstance(one, torch.Tensor) and one.requires_grad]
            forward = counter.get_total_flops()
            sum(one.sum() for one in output).backward()
    return forward, counter.get_total_flops()


def kept(module: Any, given: list[Any], named: dict[str, Any] | None = None) -> int:
    """Return the bytes of the storages that autograd holds after a forward pass; parameters, buffers and inputs left out.

    What it saved for results that nothing uses, as a pooled state beside the output, is freed with these, and is left out, too.
    """
    named = named or {}
    known = {one.untyped_storage().data_ptr() for one in (*module.parameters(), *module.buffers(), *given, *named.values())}
    saved: weakref.WeakSet[_Saved] = weakref.WeakSet()

    def pack(tensor: Any) -> Any:
        saved.add(one := _Saved(tensor.detach()))  # a result that holds its own operator would never be freed
        return one

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda one: one.tensor):
        output = module(*given, **named)
    storages = {one.data_ptr(): one.nbytes() for one in (each.tensor.untyped_storage() for each in saved)}
    del output
    return sum(size for pointer, size in storages.items() if pointer not in known)


@dataclass(eq=False)
class _Saved:
    """A tensor that autograd saved: only autograd holds this, so it ends when autograd frees the tensor."""

    tensor: Any
