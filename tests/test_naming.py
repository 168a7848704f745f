"""Names as people type them."""

from __future__ import annotations

import pytest
from frameworks import imported

import paramsym as ps
from paramsym.errors import ParamsymError, UnknownNameError
from paramsym.naming import described, meant, nearest

NAMES = ["meta-llama/Llama-2-7b-hf", "meta-llama/Llama-2-13b-hf", "one/base", "two/base", "base2"]


@pytest.mark.parametrize(
    ("typed", "name"),
    [
        ("meta-llama/Llama-2-7b-hf", NAMES[0]),
        ("Llama-2-7b-hf", NAMES[0]),
        ("META-LLAMA/llama-2-13B-HF", NAMES[1]),
        ("base", None),
        ("one/base", "one/base"),
        ("Llama-2-7b", None),
        ("", None),
        ("google-bert/BASE2", "base2"),
        ("FacebookAI/base2", "base2"),
        ("else/base2", None),
    ],
)
def test_meant(typed: str, name: str | None) -> None:
    """The organisation and capitals may be left out where one name remains."""
    assert meant(typed, NAMES) == name


def test_nearest() -> None:
    """Names that hold what was typed go first; nothing near is said to be near."""
    assert nearest("llama-2-7b", NAMES) == [NAMES[0], NAMES[1]]
    assert nearest("zebra", NAMES) == []
    assert nearest("GPT-2", ["gptj", "gpt2-xl", "gpt2"])[:2] == ["gpt2", "gpt2-xl"]
    assert nearest("BERT base", ["bert-large-cased", "bert-base-cased"]) == ["bert-base-cased"]


def test_what_was_found_is_one_short_line() -> None:
    """However a value prints itself, and where it cannot."""
    assert described("a\n  b" * 50).count("\n") == 0
    assert len(described([0] * 500)) == 87
    assert described(10**5000) == "a number of 16610 bits (int)"


def test_a_published_size() -> None:
    """A size may be asked for as people write it; what is not there is answered with what is near."""
    assert ps.models.Llama(architecture="LlamaForCausalLM").at("llama-2-7b-HF").count == 6_738_415_616  # the checkpoint's own index
    with pytest.raises(UnknownNameError, match=r"'bert-base'; did you mean bert-base-uncased or bert-base-cased or"):
        ps.models.Bert().at("bert-base")
    with pytest.raises(UnknownNameError, match="Dense has no published size 'gpt2'; it has none"):
        ps.Dense(2, 3).at("gpt2")


def _made(name: str, module: str, base: type = object) -> type:
    return type(name, (base,), {"__module__": module})


_TORCH, _FLAX = _made("Module", "torch.nn.modules.module"), _made("Module", "flax.linen.module")
_KERAS = _made("Layer", "keras.src.layers.layer", _TORCH)


@pytest.mark.parametrize(
    ("base", "words"),
    [
        (_TORCH, "a PyTorch module (Net; ps.from_module reads it)"),
        (_KERAS, "a Keras layer or model (Net; ps.from_module reads it)"),
        (_FLAX, "a Flax module (Net; ps.from_module reads it)"),
    ],
)
def test_modules_of_frameworks_are_recognised(base: type, words: str) -> None:
    """By the classes they inherit from, wherever a layer is wanted: no framework is imported for it."""
    net = _made("Net", "mine", base)()
    assert described(net) == words
    for asked in (
        lambda: ps.explain(net, "H"),
        lambda: ps.reconcile(net, 325),
        lambda: ps.memory(net, (1, 4)),
        lambda: ps.flops(net, (1, 4)),
        lambda: ps.compare(net, net),
        lambda: ps.load(net),
        lambda: ps.check(net),
        lambda: ps.table(net, ["H"]),
        lambda: ps.Sequential(net),
        lambda: ps.Block(net=net),
        lambda: ps.Residual(net),
        lambda: ps.Dense(3, 4) + net,
    ):
        with pytest.raises(ParamsymError, match=r"ps\.from_module reads it"):
            asked()


def test_a_live_module_is_recognised() -> None:
    """As torch, Keras and Flax build them."""
    torch = pytest.importorskip("torch")
    assert described(torch.nn.Linear(3, 4)) == "a PyTorch module (Linear; ps.from_module reads it)"


def test_a_live_keras_model_is_recognised() -> None:
    """Whatever it computes with."""
    keras = imported("keras")
    assert described(keras.Sequential([keras.layers.Dense(4)])) == "a Keras layer or model (Sequential; ps.from_module reads it)"


def test_a_live_flax_module_is_recognised() -> None:
    """Of linen and of NNX."""
    imported("flax")
    from flax import linen, nnx

    assert described(linen.Dense(4)) == "a Flax module (Dense; ps.from_module reads it)"
    assert described(nnx.Linear(3, 4, rngs=nnx.Rngs(0))) == "a Flax module (Linear; ps.from_module reads it)"
