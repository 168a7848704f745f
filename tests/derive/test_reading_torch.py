"""``from_module`` on live torch modules: every class of torch.nn that has a layer here, models of them, and hostile modules."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import cycle
from typing import Any

import pytest
from frameworks import imported
from oracles.certified import Row, rows
from oracles.instances import label, placed

import paramsym as ps
from paramsym import A, F, H, L
from paramsym.errors import ArgumentError, ParamsymError, StructureError
from paramsym.verify.lattice import lattice

torch = imported("torch")
nn = torch.nn
SIZES = (16, 24, 20, 28, 12)
pytestmark = pytest.mark.filterwarnings("ignore:enable_nested_tensor", "ignore:.*(lazy|Lazy).*", "ignore:.*TypedStorage.*")


def on_meta(build: Callable[[], Any]) -> Any:
    """Build without memory."""
    with torch.device("meta"):
        return build()


def assert_same(layer: ps.Layer, module: Any) -> None:
    """Names, order, shapes, ties, frozen ones and the total are the module's."""
    stated = {name: tuple(tensor.shape) for name, tensor in module.state_dict(keep_vars=True).items()}
    found = layer.shapes(buffers=True)
    assert [name for name in stated if name not in layer.tied] == list(found)
    assert all(stated[name] == shape for name, shape in found.items())
    kept = module.state_dict(keep_vars=True)
    firsts: dict[int, str] = {}
    ties = {name: first for name, tensor in kept.items() if (first := firsts.setdefault(id(tensor), name)) != name}
    assert layer.tied == ties
    assert layer.count == sum(parameter.numel() for parameter in module.parameters())
    assert int(layer.trainable) == sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


@pytest.mark.parametrize("row", rows(), ids=label)
def test_every_class_becomes_its_layer(row: Row) -> None:
    """With all its arguments: the layer that the same arguments build here."""
    name, arguments = row
    stated = getattr(ps, name)(**arguments)
    points = lattice(stated)
    pairs = zip(points.coordinates, cycle(SIZES), strict=False)
    sizes = points.sizes({c.symbol: c.choices[-1] if c.choices else size for c, size in pairs})
    module = on_meta(lambda: getattr(nn, name)(**placed(arguments, sizes)))
    layer = ps.from_module(module)
    wanted = stated.at(sizes) if sizes else stated
    assert type(layer) is type(wanted)
    assert list(layer.entries()) == list(wanted.entries())
    assert_same(layer, module)


def test_layers_without_weights_keep_their_arguments() -> None:
    """What stores nothing is a layer all the same, with a forward pass."""
    module = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.3), nn.Flatten(), nn.Linear(2048, 10))
    layer = ps.from_module(module)
    assert layer == ps.Sequential(
        ps.Conv2d(3, 8, 3, padding=1), ps.ReLU(), ps.MaxPool2d(2), ps.Dropout(0.3), ps.Flatten(), ps.Dense(2048, 10)
    )
    assert ps.output_shape(layer, (4, 3, 32, 32)) == tuple(module(torch.zeros(4, 3, 32, 32)).shape)


class Attention(nn.Module):
    """A user's own class: a parameter of its own, a buffer, one that is not saved, layers."""

    def __init__(self, width: int, heads: int) -> None:
        """Build it."""
        super().__init__()
        self.gate = nn.Parameter(torch.zeros(1, width))
        self.register_buffer("mask", torch.zeros(4, 4))
        self.register_buffer("angles", torch.zeros(4), persistent=False)
        self.inner = nn.MultiheadAttention(width, heads)
        self.norm = nn.LayerNorm(width)


class Model(nn.Module):
    """A language model: blocks, tied embeddings, one frozen layer."""

    def __init__(self, width: int = 16, heads: int = 4, layers: int = 3, vocab: int = 50) -> None:
        """Build it."""
        super().__init__()
        self.wte = nn.Embedding(vocab, width)
        self.h = nn.ModuleList(Attention(width, heads) for _ in range(layers))
        self.adapter = nn.Linear(width, 2).requires_grad_(requires_grad=False)
        self.head = nn.Linear(width, vocab, bias=False)
        self.head.weight = self.wte.weight


def test_a_model_of_ones_own() -> None:
    """Blocks, a repeat of equal ones, ties, frozen parameters, buffers of both kinds."""
    module = Model()
    layer = ps.from_module(module)
    assert_same(layer, module)
    assert layer.tied == {"head.weight": "wte.weight"}
    hidden = [entry.name for entry in layer.entries() if entry.tensor.buffer and not entry.tensor.persistent]
    assert hidden == [f"h.{i}.angles" for i in range(3)]
    assert isinstance(layer.part("h.1.inner"), ps.MultiHeadAttention)
    assert "h.{0..2}.inner.in_proj_weight" in str(layer.table())
    assert ps.match(layer, module).ok


def test_letters_go_where_they_are_said() -> None:
    """A number becomes a letter everywhere; the closed form follows, and other sizes give what torch builds."""
    layer = ps.generalise(ps.from_module(Model()), {16: H, ("heads", 4): A, 50: ps.V, 3: L})
    assert layer.symbols == {H, A, ps.V, L}
    assert_same(layer.at(H=24, A=2, V=70, L=5), Model(24, 2, 5, 70))
    with pytest.raises(StructureError, match="4 means several things here"):  # the mask has 4 positions, too
        ps.generalise(ps.from_module(Model()), {4: A})


def test_a_number_that_means_two_things_is_refused() -> None:
    """12 heads and 12 layers are two letters; a letter for two numbers, a number that is nowhere, and nonsense are refused."""
    layer = ps.from_module(Model(width=12, heads=3, layers=3))
    with pytest.raises(StructureError, match=r"3 means several things here: (copies and heads|heads and copies)"):
        ps.generalise(layer, {3: A})
    both = ps.generalise(layer, {("heads", 3): A, ("copies", 3): L, 12: H})
    assert both.symbols == {A, L, H}
    with pytest.raises(ArgumentError, match="768 is nowhere"):
        ps.generalise(layer, {768: H})
    with pytest.raises(StructureError, match="H cannot be 12 and 50"):
        ps.generalise(layer, {12: H, 50: H})
    with pytest.raises(ArgumentError, match="wanted a number and a symbol"):
        ps.generalise(layer, {"12": H})
    with pytest.raises(ArgumentError, match="is only in an expression"):
        ps.generalise(layer, {50: 4 * F})
    with pytest.raises(StructureError, match="and not 50"):
        ps.generalise(layer, {12: H, 50: 4 * H})


class Cycle(nn.Module):
    """A module that contains itself."""

    def __init__(self) -> None:
        """Build it."""
        super().__init__()
        self.a = nn.Linear(2, 2)
        self._modules["me"] = self


class Packed(nn.Linear):
    """A module whose state dict holds other names than its parameters, as quantised ones do."""

    def state_dict(self, *arguments: Any, **named: Any) -> Any:
        """Say what torch's packed layers say."""
        found = super().state_dict(*arguments, **named)
        return {"scale": found.pop("bias"), **found}


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (Cycle, "contains itself, at 'me'"),
        (lambda: nn.LazyLinear(3), "has no shape yet"),
        (lambda: nn.Sequential(nn.LazyConv2d(3, 2)), "has no shape yet"),
        (lambda: Packed(2, 3), "does not contain its parameters and buffers"),
        (lambda: nn.Linear, "is a class; build it first"),
        (lambda: 3, "is not a module"),
        (lambda: None, "is not a module"),
    ],
    ids=["cycle", "lazy", "lazy-inside", "packed", "class", "number", "none"],
)
def test_hostile_modules_are_refused(build: Callable[[], Any], words: str) -> None:
    """In words of this library."""
    with pytest.raises(ParamsymError, match=re.escape(words)):
        ps.from_module(build())


@pytest.mark.filterwarnings("ignore:.*quantize.*")
def test_a_dynamically_quantised_module_is_answered_or_refused() -> None:
    """Its packed weights are no tensors of the module: a refusal, never a smaller count."""
    if "fbgemm" not in torch.backends.quantized.supported_engines and "qnnpack" not in torch.backends.quantized.supported_engines:
        pytest.skip("this build of torch does not quantise")
    module = torch.ao.nn.quantized.dynamic.Linear(4, 4)
    with pytest.raises(ArgumentError, match="state dict"):
        ps.from_module(module)


@pytest.mark.parametrize("wrap", ["DataParallel", "compile", "weight_norm", "parametrize", "spectral_norm"])
def test_wrappers_keep_their_names(wrap: str) -> None:
    """What a wrapper adds to the names stays in them, as in its state dict."""
    module: Any = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 3))
    if wrap == "DataParallel":
        module = nn.DataParallel(module)
    elif wrap == "compile":
        module = torch.compile(module)
    elif wrap == "weight_norm":
        module[0] = torch.nn.utils.parametrizations.weight_norm(module[0])
    elif wrap == "parametrize":
        torch.nn.utils.parametrize.register_parametrization(module[0], "weight", nn.Softplus())
    else:
        module[0] = torch.nn.utils.spectral_norm(module[0])
    assert_same(ps.from_module(module), module)


def test_an_adapted_module() -> None:
    """PEFT's wrapper and its low-rank factors, frozen base included."""
    peft = imported("peft")
    module = peft.get_peft_model(nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 2)), peft.LoraConfig(target_modules=["0"], r=2))
    assert_same(ps.from_module(module), module)


def test_a_shared_module_is_stored_once() -> None:
    """One module under two names: every tensor of the second is an alias."""
    shared = nn.Linear(3, 3)
    module = nn.ModuleDict({"a": shared, "b": nn.Sequential(shared, nn.ReLU())})
    layer = ps.from_module(module)
    assert_same(layer, module)
    assert layer.tied == {"b.0.weight": "a.weight", "b.0.bias": "a.bias"}


KINDS = (
    *("albert", "audio-spectrogram-transformer", "bart", "beit", "bert", "bigbird_pegasus", "blip-2"),
    *("bloom", "clip", "codegen", "convbert", "convnext", "data2vec-text", "deit"),
    *("distilbert", "dpr", "electra", "ernie", "falcon", "gemma2", "git"),
    *("gpt2", "gpt_neo", "gpt_neox", "gptj", "hiera", "hubert", "llama"),
    *("llava", "longformer", "mamba", "mamba2", "mixtral", "mobilevit", "mpnet"),
    *("opt", "phi3", "pvt_v2", "qwen2_moe", "regnet", "resnet", "sam"),
    *("segformer", "siglip", "swin", "t5", "vilt", "vit", "vits"),
    *("whisper", "xlnet"),
)


@pytest.mark.parametrize("kind", KINDS)
def test_models_of_transformers(kind: str) -> None:
    """Whole models: names, order, shapes, ties, totals."""
    transformers = imported("transformers")
    config = transformers.AutoConfig.for_model(kind)
    for key, value in {"num_hidden_layers": 2, "n_layer": 2, "encoder_layers": 2, "decoder_layers": 2, "num_layers": 2}.items():
        if hasattr(config, key):
            setattr(config, key, value)
    module = on_meta(lambda: transformers.AutoModel.from_config(config))
    assert_same(ps.from_module(module), module)


def test_an_object_with_the_words_of_a_module_is_none() -> None:
    """Keras' layers have lists of weights."""
    pretender = type("Pretender", (), {"trainable_weights": None, "weights": None})()
    with pytest.raises(ArgumentError, match="Pretender"):
        ps.from_module(pretender)


@pytest.mark.parametrize("letters", [10**5000, {10**5000: H}, {3: 10**5000}, {True: H}], ids=["none", "number", "letter", "flag"])
def test_what_is_no_letter_for_a_number(letters: Any) -> None:
    """Also where it is too long to write down."""
    with pytest.raises(ArgumentError, match=r"a number of 16610 bits|has True"):
        ps.generalise(ps.Dense(2, 3), letters)
