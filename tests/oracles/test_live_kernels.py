"""The arrays that torch's kernels keep in settings without recorded rows: in place, over channels, of tables; measured live."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps

torch = pytest.importorskip("torch")

IN_PLACE = ["ReLU", "ReLU6", "SiLU", "Mish", "Hardswish", "Hardsigmoid", "Hardtanh", "LeakyReLU", "ELU", "CELU", "SELU", "RReLU"]
CASES: list[tuple[str, dict[str, Any], tuple[int, ...]]] = [
    *((name, {"inplace": inplace}, (2, 3, 4)) for name in IN_PLACE for inplace in (False, True)),
    *(("Threshold", {"threshold": 0.1, "value": 1.0, "inplace": inplace}, (2, 3)) for inplace in (False, True)),
    *((name, {}, (2, 3, 4, 5)) for name in ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Dropout2d", "LogSigmoid", "PReLU")),
    ("Dropout1d", {}, (3, 4)),
    ("Dropout1d", {}, (2, 3, 4)),
    ("Dropout2d", {}, (3, 4, 5)),
    ("Dropout3d", {}, (3, 4, 5, 6)),
    ("Dropout3d", {}, (2, 3, 4, 5, 6)),
    ("FeatureAlphaDropout", {}, (2, 3)),
    ("Conv2d", {"in_channels": 3, "out_channels": 5, "kernel_size": (4, 2), "padding": "same", "dilation": (2, 1)}, (2, 3, 9, 8)),
    ("Conv3d", {"in_channels": 2, "out_channels": 2, "kernel_size": (2, 3, 4), "padding": "same", "groups": 2}, (2, 4, 5, 6)),
    ("LocalResponseNorm", {"size": 4}, (2, 6, 5)),
    ("LPPool3d", {"norm_type": 3, "kernel_size": 2}, (2, 3, 4, 5, 6)),
    ("InstanceNorm3d", {"num_features": 3, "affine": True, "track_running_stats": True}, (2, 3, 4, 5, 6)),
    ("InstanceNorm1d", {"num_features": 3, "affine": True}, (3, 7)),
    ("GRU", {"input_size": 3, "hidden_size": 4, "num_layers": 3, "batch_first": True, "bidirectional": True}, (2, 5, 3)),
    ("RNN", {"input_size": 3, "hidden_size": 4, "batch_first": True, "nonlinearity": "relu"}, (5, 3)),
]
TABLES: list[dict[str, Any]] = [
    {"mode": mode, **more} for mode in ("sum", "mean", "max") for more in ({}, {"padding_idx": 2}, {"max_norm": 1.0})
]


def held(module: Any, *inputs: Any) -> int:
    """Return the bytes of the arrays that the hooks see, without parameters, buffers and inputs."""
    known = {one.untyped_storage().data_ptr() for one in (*module.parameters(), *module.buffers(), *inputs)}
    found: dict[int, Any] = {}

    def pack(saved: Any) -> Any:
        found.setdefault(saved.untyped_storage().data_ptr(), saved.untyped_storage())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        output = module.train()(*inputs)
    assert output is not None
    return sum(storage.nbytes() for pointer, storage in found.items() if pointer not in known)


@pytest.mark.filterwarnings("ignore:dropout2d:UserWarning")
@pytest.mark.filterwarnings("ignore:Using padding='same':UserWarning")
@pytest.mark.parametrize(("name", "settings", "shape"), CASES, ids=str)
def test_bytes(name: str, settings: dict[str, Any], shape: tuple[int, ...]) -> None:
    """The bytes are equal, for an input with a gradient; it is not a leaf, so that it may be overwritten."""
    found = ps.activations(getattr(ps, name)(**settings), shape, convention="torch-eager-cpu", input_gradients=True).total
    assert found == held(getattr(torch.nn, name)(**settings), torch.randn(shape, requires_grad=True) * 1.0)


@pytest.mark.parametrize("settings", TABLES, ids=str)
def test_bags(settings: dict[str, Any]) -> None:
    """The indices of bags are kept beside their inputs; the table is a parameter and does not count."""
    found = ps.activations(ps.EmbeddingBag(10, 6, **settings), (4, 3), convention="torch-eager-cpu").total
    assert found == held(torch.nn.EmbeddingBag(10, 6, **settings), torch.randint(0, 10, (4, 3)))


def test_weighted_bags() -> None:
    """The weight of every index is an input."""
    module, words, weights = torch.nn.EmbeddingBag(10, 6, mode="sum"), torch.randint(0, 10, (4, 3)), torch.rand(4, 3)

    class Weighted(torch.nn.Module):  # type: ignore[misc,name-defined]
        bag = module

        def forward(self, words: Any, weights: Any) -> Any:
            return self.bag(words, None, weights)

    found = ps.activations(ps.EmbeddingBag(10, 6, mode="sum"), (4, 3), (4, 3), convention="torch-eager-cpu").total
    assert found == held(Weighted(), words, weights)
