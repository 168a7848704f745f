"""Loops over the entries of an axis as one copy: the same work as all copies written out, and what is no such loop stays as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from amount import cases

import paramsym as ps
from paramsym import B, S
from paramsym.errors import NotYetError
from paramsym.read.rolling import looped, rolled

torch = pytest.importorskip("torch")

WIDTH = 8


class Looped(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A matrix, then a loop, which may use two modules."""

    def __init__(self, loop: Callable[..., Any]) -> None:
        """Build the matrix."""
        super().__init__()
        self.rows = torch.nn.Parameter(torch.ones(WIDTH, WIDTH))
        self.cell, self.out = torch.nn.LSTMCell(WIDTH, WIDTH), torch.nn.Linear(WIDTH, WIDTH)
        self.loop = loop

    def forward(self, x: Any) -> Any:
        """Return what the loop gives."""
        return self.loop(x @ self.rows, self if self.loop in {calling, unbinding, teaching} else self.rows)


def stacking(x: Any, rows: Any) -> Any:
    """A state, and outputs in a list."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), []
    for place in range(x.shape[1]):
        state = state * 2 + x[:, place]
        outputs.append(state @ rows)
    return torch.stack(outputs, dim=1)


def writing(x: Any, rows: Any) -> Any:
    """A state that only the next entry uses, and outputs that are written in place."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), torch.zeros_like(x)
    for place in range(x.shape[1]):
        outputs[:, place] = x[:, place] @ rows + state
        state = state @ rows + x[:, place] @ rows
    return outputs


def calling(x: Any, net: Looped) -> Any:
    """A cell with two states, and a matrix, that are modules."""
    states = (torch.zeros(x.shape[0], WIDTH), torch.zeros(x.shape[0], WIDTH))
    outputs = []
    for place in range(x.shape[1]):
        states = net.cell(x[:, place], states)
        outputs.append(net.out(states[0]))
    return torch.stack(outputs, dim=1)


def backwards(x: Any, rows: Any) -> Any:
    """Entries from the last one on."""
    state = torch.zeros(x.shape[0], WIDTH)
    for place in reversed(range(x.shape[1])):
        state = state @ rows + x[:, place]
    return state


def backwards_stacking(x: Any, rows: Any) -> Any:
    """Entries from the last one on, with outputs in the order of the entries."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), []
    for place in reversed(range(x.shape[1])):
        state = state @ rows + x[:, place]
        outputs.insert(0, state)
    return torch.stack(outputs, dim=1)


def backwards_writing(x: Any, rows: Any) -> Any:
    """Entries from the last one on, with outputs that are written in place."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), torch.zeros_like(x)
    for place in reversed(range(x.shape[1])):
        state = state @ rows + x[:, place]
        outputs[:, place] = state
    return outputs


def unbinding(x: Any, net: Looped) -> Any:
    """Entries that are unbound, and outputs with an axis of their own that are joined along it."""
    states = (torch.zeros(x.shape[0], WIDTH), torch.zeros(x.shape[0], WIDTH))
    outputs = []
    for entry in x.unbind(1):
        states = net.cell(entry, states)
        outputs.append(states[0].unsqueeze(1))
    return torch.cat(outputs, 1)


def turned(x: Any, rows: Any) -> Any:
    """Entries from the last one on, with outputs in this order."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), []
    for place in reversed(range(x.shape[1])):
        state = state @ rows + x[:, place]
        outputs.append(state)
    return torch.stack(outputs, dim=1)


def in_part(x: Any, rows: Any) -> Any:
    """All entries but one."""
    state = torch.zeros(x.shape[0], WIDTH)
    for place in range(x.shape[1] - 1):
        state = state @ rows + x[:, place]
    return state


def two_back(x: Any, rows: Any) -> Any:
    """Each entry uses the state two entries before."""
    states = [x[:, 0] @ rows, x[:, 1] @ rows]
    for place in range(2, x.shape[1]):
        states.append((states[-1] + states[-2]) @ rows + x[:, place])
    return states[-1]


def in_steps(x: Any, rows: Any) -> Any:
    """Every other entry."""
    state = torch.zeros(x.shape[0], WIDTH)
    for place in range(0, x.shape[1], 2):
        state = state @ rows + x[:, place]
    return state


def looking_back(x: Any, rows: Any) -> Any:
    """Each entry uses the state of the first one."""
    first = state = x[:, 0] @ rows
    for place in range(x.shape[1]):
        state = (state + x[:, place]) @ rows
        first = state if place == 0 else first
        state = state * first
    return state


def from_the_second(x: Any, rows: Any) -> Any:
    """The first output is there before the loop, and one comes after it."""
    state = x[:, 0] @ rows
    outputs = [state]
    for place in range(1, x.shape[1]):
        state = torch.tanh(state @ rows + x[:, place])
        outputs.append(state)
    return torch.stack([*outputs, state * 2], dim=1)


def teaching(x: Any, net: Looped) -> Any:
    """The entry before is taken, and the output written from the second entry on, as a decoder that is taught does."""
    states = (torch.zeros(x.shape[0], WIDTH), torch.zeros(x.shape[0], WIDTH))
    outputs, entry = torch.zeros_like(x), x[:, 0]
    for place in range(1, x.shape[1]):
        states = net.cell(entry, states)
        outputs[:, place] = net.out(states[0])
        entry = x[:, place]
    return outputs


def looking_ahead(x: Any, rows: Any) -> Any:
    """From the last entry but one to the first, with the entry after each one, as advantages are summed up."""
    state, outputs = torch.zeros(x.shape[0], WIDTH), torch.zeros_like(x)
    for place in reversed(range(x.shape[1] - 1)):
        state = (x[:, place + 1] - x[:, place]) @ rows + 0.9 * state
        outputs[:, place] = state
    return outputs


LOOPS = [stacking, writing, calling, backwards, backwards_stacking, backwards_writing, unbinding]
LOOPS += [in_part, looking_back, two_back, from_the_second, teaching, looking_ahead]


@cases(0)
@pytest.mark.parametrize("loop", LOOPS)
def test_the_work_of_all_copies(loop: Callable[..., Any]) -> None:
    """FLOPs both ways and kept arrays in letters are those of a pass whose copies are all written out."""
    read = ps.from_module(Looped(loop))
    for way in ("forward", "both"):
        found = ps.flops(read, (B, S, WIDTH), way=way).total
        for length in (3, 9) if loop is two_back else (2, 3, 9):  # it begins with two entries
            assert found.subs({B: 2, S: length}) == ps.flops(read, (2, length, WIDTH), way=way).total
    kept = ps.activations(read, (B, S, WIDTH)).total
    for length in (3, 9) if loop is two_back else (2, 9):
        assert kept.subs({B: 2, S: length}) == ps.activations(read, (2, length, WIDTH)).total


@cases(0)
@pytest.mark.parametrize("loop", [turned, in_steps])
def test_other_loops_are_refused(loop: Callable[..., Any]) -> None:
    """A loop in another order than its outputs, or over every other entry, has no formula."""
    with pytest.raises(NotYetError, match="the operators change with S, as in a loop over its entries"):
        ps.flops(ps.from_module(Looped(loop)), (B, S, WIDTH))


@cases(0)
@pytest.mark.parametrize("loop", LOOPS)
def test_the_run_of_a_loop(loop: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop computes with NumPy what torch computes: the copies are one, played for each entry."""
    torch.manual_seed(0)
    module, x = Looped(loop), torch.randn(2, 6, WIDTH)
    torch.nn.init.normal_(module.rows, std=0.3)
    with torch.no_grad():
        wanted = module(x).numpy()
    read, played = ps.from_module(module), []

    def as_loop(source: Any, shapes: Any) -> tuple[Any, None]:
        played.append(rolled(source.recording(shapes)))
        return played[-1], None

    monkeypatch.setattr(type(read.source), "recorded", as_loop)
    found = ps.run(read, {name: one.detach().numpy() for name, one in module.named_parameters()}, x.numpy())
    assert all(map(looped, played))
    assert abs(found - wanted).max() < 1e-5
