"""``derive`` on builds of live torch modules, on the meta device where the build allows it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.errors import NoLawError

torch = imported("torch")
nn = torch.nn


def shapes(module: Any) -> dict[str, tuple[int, ...]]:
    """Return the parameters and persistent buffers of a module, every tensor once."""
    firsts: dict[int, str] = {}
    kept = module.state_dict(keep_vars=True)
    return {name: tuple(tensor.shape) for name, tensor in kept.items() if firsts.setdefault(id(tensor), name) == name}


@dataclass
class Config:
    """A small GPT's configuration."""

    n_layer: int = 2
    n_head: int = 4
    n_embd: int = 32
    vocab_size: int = 60
    tie: bool = True


class Block(nn.Module):
    """Attention and a feed-forward network, with a mask that is not a parameter."""

    def __init__(self, config: Config) -> None:
        """Build it; the width must be a multiple of the heads."""
        super().__init__()
        assert config.n_embd % config.n_head == 0
        self.attn = nn.MultiheadAttention(config.n_embd, config.n_head)
        self.mlp = nn.Sequential(nn.Linear(config.n_embd, 4 * config.n_embd), nn.GELU(), nn.Linear(4 * config.n_embd, config.n_embd))
        self.register_buffer("mask", torch.ones(config.n_head, 1))


class Gpt(nn.Module):
    """A model that takes its configuration."""

    def __init__(self, config: Config) -> None:
        """Build it."""
        super().__init__()
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.h = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        self.head = nn.Linear(config.n_embd, config.vocab_size, bias=False)
        if config.tie:
            self.head.weight = self.wte.weight


def test_a_module_that_takes_a_configuration() -> None:
    """Divisibility from its assertion, ties and buffers as in the module, both strata of the flag."""
    form = ps.derive(Gpt, tests=40, seconds=120)
    assert str(form.params) == "12*n_embd**2*n_layer + 9*n_embd*n_layer + n_embd*vocab_size"
    assert form.tied == {"head.weight": "wte.weight"}
    for tie in (True, False):
        config = Config(n_layer=3, n_head=2, n_embd=10, vocab_size=40, tie=tie)
        sized = form.stratum(tie=tie).at(n_layer=3, n_head=2, n_embd=10, vocab_size=40)
        assert sized.shapes(buffers=True) == shapes(Gpt(config))
    assert form.certificate.versions["torch"] == torch.__version__
    assert form.certificate.magnitudes["vocab_size"][1] > 2**14  # no memory was needed


def test_recurrent_language_model() -> None:
    """Numbers at the ends of names, the first layer's width differing, both directions in turn."""

    def build(vocab: int = 30, embed: int = 7, hidden: int = 9, layers: int = 2) -> Any:
        return nn.ModuleDict({
            "embed": nn.Embedding(vocab, embed),
            "rnn": nn.LSTM(embed, hidden, layers, bidirectional=True),
            "head": nn.Linear(2 * hidden, vocab),
        })  # fmt: skip

    form = ps.derive(build, tests=40, seconds=120)
    assert form.at(vocab=11, embed=5, hidden=3, layers=4).shapes() == shapes(build(11, 5, 3, 4))
    assert form.certificate.ordered


def test_a_u_net_of_chosen_multipliers() -> None:
    """The multipliers are held: with the first of 1 its block has no shortcut, and that is a choice."""

    def build(channels: int = 3, base: int = 8, multipliers: tuple[int, ...] = (1, 2, 4), blocks: int = 2) -> Any:
        found, width = nn.ModuleDict({"first": nn.Conv2d(channels, base, 3)}), base
        found["down"] = nn.ModuleList()
        for m in multipliers:
            level = nn.ModuleList()
            for _ in range(blocks):
                block = nn.ModuleDict({"conv": nn.Conv2d(width, base * m, 3), "norm": nn.BatchNorm2d(base * m)})
                if width != base * m:
                    block["shortcut"] = nn.Conv2d(width, base * m, 1)
                level.append(block)
                width = base * m
            found["down"].append(level)
        return found

    form = ps.derive(build, held={"multipliers": (1, 2, 4)}, tests=40, seconds=120)
    assert form.at(channels=1, base=5, blocks=3).shapes(buffers=True) == shapes(build(1, 5, (1, 2, 4), 3))
    assert form.certificate.held == {"multipliers": (1, 2, 4)}


def test_a_build_that_needs_its_numbers() -> None:
    """Widths read from a tensor cannot be had without memory: the build is called as it is."""

    def build(first: int = 4, last: int = 4, layers: int = 3) -> Any:
        steps = torch.arange(layers) * last + first
        widths = [int(step) for step in steps.tolist()]
        return nn.ModuleList(nn.Linear(width, 2, bias=False) for width in widths)

    form = ps.derive(build, first=range(1, 60), last=range(1, 60), tests=40, seconds=60)
    assert form.at(first=3, last=5, layers=6).shapes() == shapes(build(3, 5, 6))


def test_chance_in_a_module_is_refused() -> None:
    """A module that is another one each time has no formula."""

    def build(width: int = 4) -> Any:
        return nn.Linear(width, width + int(torch.randint(0, 100, (1,), device="cpu").item()))

    with pytest.raises(NoLawError, match="two different results"):
        ps.derive(build)


def test_flops_of_a_live_module() -> None:
    """Torch's own counter over batch and length: the closed form of its count."""
    counter = imported("torch.utils.flop_counter")

    def flops(batch: int = 2, length: int = 5, width: int = 8, layers: int = 2) -> int:
        with torch.device("meta"):
            module = nn.Sequential(*(nn.Linear(width, width) for _ in range(layers)))
            inputs = torch.zeros(batch * length, width)
        with counter.FlopCounterMode(display=False) as mode, torch.no_grad():
            module(inputs)
        return int(mode.get_total_flops())

    count = ps.derive(flops, layers=range(1, 8), tests=40, seconds=120)
    assert str(count.formula) == "2*batch*layers*length*width**2"


class Shared(nn.Module):
    """The first layer is one of the model, and all others are one more."""

    def __init__(self, width: int = 16, depth: int = 3) -> None:
        """Build it."""
        super().__init__()
        self.first, shared = nn.Linear(width, width), nn.Linear(width, width)
        self.layers = nn.ModuleList(self.first if number == 0 else shared for number in range(depth))


def test_shared_layers_are_counted_once() -> None:
    """The ties name the copies that they mean: the first, and those after the second."""
    form = ps.derive(Shared)
    assert str(form.params) == "2*width**2 + 2*width"
    for depth in (2, 5):
        module = Shared(8, depth)
        sized = form.at(width=8, depth=depth)
        assert sized.count == sum(parameter.numel() for parameter in module.parameters())
        assert sized.shapes() == shapes(module)
        firsts = dict(zip(map(id, module.parameters()), dict(module.named_parameters()), strict=True))
        every = module.named_parameters(remove_duplicate=False)
        assert sized.tied == {name: firsts[id(tensor)] for name, tensor in every if firsts[id(tensor)] != name}


class Groups(nn.Module):
    """Layers in groups of equal weights, as in ALBERT: one block for each group, used several times in a row."""

    def __init__(self, width: int = 16, inner: int = 24, layers: int = 6, groups: int = 2) -> None:
        """Build it; the groups must divide the layers."""
        super().__init__()
        assert layers % groups == 0
        blocks = [nn.Sequential(nn.Linear(width, inner), nn.ReLU(), nn.Linear(inner, width)) for _ in range(groups)]
        self.layers = nn.ModuleList(blocks[number * groups // layers] for number in range(layers))


class Twice(nn.Module):
    """Each block twice in a row, as in MobileLLM."""

    def __init__(self, width: int = 16, blocks: int = 3) -> None:
        """Build it."""
        super().__init__()
        self.layers = nn.ModuleList(block for _ in range(blocks) for block in [nn.Linear(width, 3)] * 2)


@pytest.mark.parametrize(
    ("build", "params", "sizes"),
    [
        (
            Groups,
            "2*groups*inner*width + groups*inner + groups*width",
            ({"layers": 12, "groups": 3}, {"layers": 5, "groups": 5}, {"layers": 7, "groups": 1}),
        ),
        (Twice, "3*blocks*width + 3*blocks", ({"blocks": 1}, {"blocks": 40})),
    ],
)
def test_groups_of_layers_share_their_tensors(build: Any, params: str, sizes: tuple[dict[str, int], ...]) -> None:
    """Every name, and which of them are one tensor."""
    form = ps.derive(build, tests=40, seconds=120)
    assert str(form.params) == params
    for given in sizes:
        module, sized = build(width=7, **given), form.at(width=7, **given, **({"inner": 24} if build is Groups else {}))
        firsts = {id(tensor): name for name, tensor in module.named_parameters()}
        every = module.named_parameters(remove_duplicate=False)
        assert sized.tied == {name: firsts[id(tensor)] for name, tensor in every if firsts[id(tensor)] != name}
        assert sized.shapes() == shapes(module)
        assert sized.count == sum(parameter.numel() for parameter in module.parameters())


def test_a_count_of_a_torch_module_ends_in_time() -> None:
    """The number of layers is not tried at sizes of a width, though a count shows no tensors."""

    def parameters(width: int = 16, depth: int = 3, groups: int = 2) -> int:
        assert width % groups == 0
        layers = nn.ModuleList(nn.Conv1d(width, width, 3, groups=groups) for _ in range(depth))
        return sum(parameter.numel() for parameter in layers.parameters())

    began = time.monotonic()
    count = ps.derive(parameters, tests=60, seconds=20)
    assert time.monotonic() - began < 20
    assert count.at(width=60, depth=7, groups=4) == parameters(60, 7, 4)
    assert count.certificate.magnitudes["depth"][1] < 2000 < count.certificate.magnitudes["width"][1]
