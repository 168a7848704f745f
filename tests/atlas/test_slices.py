"""How a pass divides the axes of tensors, in modules whose views are written out here."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from atlas_builder.slices import Segments, factors_of  # noqa: E402 - it needs torch

from paramsym.errors import NotYetError  # noqa: E402
from paramsym.read.torch_recorder import recorded, until  # noqa: E402

nn, functional = torch.nn, torch.nn.functional
HEADS, WIDTH = 3, 4
HIDDEN = HEADS * WIDTH
SLICES = (HEADS, WIDTH)


class Separate(nn.Module):
    """A product each for queries, keys and values, a gain on the queries, two groups of keys, and one product after attention."""

    def __init__(self) -> None:  # noqa: D107 - the class says it
        super().__init__()
        self.query, self.out = nn.Linear(5, HIDDEN), nn.Linear(HIDDEN, 5, bias=False)
        self.key, self.value = nn.Linear(5, WIDTH), nn.Linear(5, WIDTH)
        self.gain = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x: Any) -> Any:  # noqa: D102 - the class says it
        query = (self.query(x) * self.gain).view(2, 7, HEADS, WIDTH).transpose(1, 2)
        key, value = self.key(x)[:, None], self.value(x)[:, None]
        weights = torch.softmax(query @ key.transpose(-1, -2), -1)
        return self.out((weights @ value).transpose(1, 2).reshape(2, 7, HIDDEN))


class Fused(nn.Module):
    """One product for queries, keys and values, cut into thirds that torch's attention takes."""

    def __init__(self) -> None:  # noqa: D107 - the class says it
        super().__init__()
        self.all = nn.Linear(5, 3 * HIDDEN)

    def forward(self, x: Any) -> Any:  # noqa: D102 - the class says it
        query, key, value = (one.unflatten(-1, SLICES).transpose(1, 2) for one in self.all(x).chunk(3, -1))
        return functional.scaled_dot_product_attention(query, key, value)


class ByHead(Fused):
    """One product, divided into heads first."""

    def forward(self, x: Any) -> Any:  # noqa: D102 - the class says it
        query, key, value = self.all(x).view(2, 7, HEADS, 3 * WIDTH).chunk(3, -1)
        return query * key + value


class Several(Fused):
    """One product, divided into three parts of heads, with transposes and copies on the way."""

    def forward(self, x: Any) -> Any:  # noqa: D102 - the class says it
        query, key, value = self.all(x).reshape(2, 7, 3, HEADS, WIDTH).permute(2, 0, 3, 1, 4).unbind(0)
        return query.contiguous() + key + value


class Ending(Separate):
    """A pass that ends with a branch on an unknown value after its queries."""

    def forward(self, x: Any) -> Any:  # noqa: D102 - the class says it
        query = self.query(x).view(2, 7, HEADS, WIDTH)
        return query if query.sum() > 0 else self.key(x)


def found(module: Any, *inputs: Any) -> dict[str, Any]:
    """Return the factors in one pass."""
    inputs = inputs or (torch.zeros(2, 7, 5),)
    shapes = {name: tuple(one.shape) for name, one in module.named_parameters()}
    return factors_of(recorded(module, inputs, {}), shapes)


def test_a_view_divides_the_axis_of_a_product() -> None:
    """The outputs of the queries, their bias and gain, and the inputs of the last product; the one group of keys is not divided."""
    assert found(Separate()) == {
        "gain": (SLICES,),
        "query.weight": (SLICES, (5,)),
        "query.bias": (SLICES,),
        "out.weight": ((5,), SLICES),
        "key.weight": ((WIDTH,), (5,)),
        "key.bias": ((WIDTH,),),
        "value.weight": ((WIDTH,), (5,)),
        "value.bias": ((WIDTH,),),
    }


def test_a_fused_product_is_a_concatenation() -> None:
    """Slices say what is a query, a key and a value."""
    thirds = (Segments((SLICES,) * 3, ("query", "key", "value")),)
    assert found(Fused()) == {"all.weight": (thirds, (5,)), "all.bias": (thirds,)}
    assert found(ByHead())["all.weight"] == ((HEADS, 3 * WIDTH), (5,))
    assert found(Several())["all.bias"] == ((3, HEADS, WIDTH),)


def test_torchs_own_attention() -> None:
    """It views the batch and the heads as one axis."""
    x = torch.zeros(2, 7, HIDDEN)
    heads = found(nn.MultiheadAttention(HIDDEN, HEADS, batch_first=True), x, x, x)
    assert heads["in_proj_weight"] == ((Segments((SLICES,) * 3, ("",) * 3),), (HIDDEN,))
    assert heads["out_proj.weight"] == ((HIDDEN,), SLICES)


def test_what_ran_before_an_error_is_seen() -> None:
    """A branch on a value that depends on the weights ends the pass."""
    module = Ending()
    with pytest.raises(NotYetError) as raised:
        found(module)
    recording = until(raised.value)
    assert recording is not None
    assert factors_of(recording, {name: tuple(one.shape) for name, one in module.named_parameters()})["query.bias"] == (SLICES,)
    assert until(ValueError()) is None
