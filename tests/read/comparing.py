"""What torch itself computes, counts and keeps, to compare a read module with."""

from __future__ import annotations

import warnings
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
    rules for these here, and one for grouped products. An LSTM is computed step by step, because the kernel for a CPU counts nothing.
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

    def grouped(x: Any, y: Any, *_: Any, **__: Any) -> int:
        return 2 * prod(x[-2:]) * y[-1]  # each row, or each column, is multiplied by one of the groups

    aten = torch.ops.aten
    rules = {
        aten.convolution_backward: conv_backward,
        aten.mv: with_vector,
        aten.dot: with_vector,
        aten.vdot: with_vector,
        aten.addmv: added,
        aten.addbmm: added,
        aten._grouped_mm: grouped,
    }
    counter = FlopCounterMode(display=False, custom_mapping=rules)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about number formats of other devices
        with sdpa_kernel(SDPBackend.MATH), torch.backends.mkldnn.flags(enabled=False), counter:
            output = [one for one in results(module(*given, **named)) if isinstance(one, torch.Tensor) and one.requires_grad]
            forward = counter.get_total_flops()
            sum(one.sum() for one in output).backward()
    return forward, counter.get_total_flops()


def kept(module: Any, given: list[Any]) -> int:
    """Return the bytes of the storages that autograd holds after a forward pass; parameters, buffers and inputs left out."""
    known = {one.untyped_storage().data_ptr() for one in (*module.parameters(), *module.buffers(), *given)}
    storages: dict[int, int] = {}

    def pack(saved: Any) -> Any:
        storages.setdefault(saved.untyped_storage().data_ptr(), saved.untyped_storage().nbytes())
        held.append(saved)
        return saved

    held: list[Any] = []
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        output = module(*given)
    del output
    return sum(size for pointer, size in storages.items() if pointer not in known)
