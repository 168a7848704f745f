"""Models of transformers, read from their modules: against torch's counter, against the families that state the same, and in letters."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

import paramsym as ps
from paramsym import B, S
from paramsym.errors import NotYetError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from read.comparing import counted_on  # noqa: E402 - it needs torch

TEXT = (
    *("albert", "bert", "bloom", "camembert", "convbert", "electra", "ernie", "ibert", "modernbert", "mpnet", "mpt", "nomic_bert"),
    *("nystromformer", "rembert", "roberta", "roc_bert", "roformer", "squeezebert", "t5", "xlm-roberta", "xlnet"),
)
IMAGES = ("beit", "deit", "dinov2", "ijepa", "pixio", "radio", "swin", "swinv2", "vit", "vit_msn", "vitdet", "yolos")
STATED = (
    *("bert", "gpt2", "llama", "mistral", "gemma", "mixtral", "t5", "bart", "vit", "deit", "swin", "albert", "electra", "deberta-v2"),
    *("gpt_neox", "gptj", "opt", "bloom", "falcon", "phi", "phi3", "mamba", "mamba2", "deepseek_v3", "olmo2", "mpt", "distilbert"),
    *("starcoder2", "stablelm", "cohere", "granite", "olmoe", "qwen3_moe", "pegasus", "mbart"),
)
ON_CPU = ("convbert", "ibert", "nystromformer", "rembert", "roformer", "squeezebert", "xlnet")
"""Types in which the counter needs values, so that their models are built with weights."""
_LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers")


def model(kind: str, device: str = "meta") -> tuple[Any, Any, dict[str, Any]]:
    """Return a configuration with two layers, its model, by default without memory for weights, and inputs of two examples."""
    config = transformers.AutoConfig.for_model(kind)
    for key in _LAYERS:
        if isinstance(getattr(config, key, None), int):
            setattr(config, key, 2)
    if hasattr(config, "use_cache"):
        config.use_cache = False
    with torch.device(device):
        made = transformers.AutoModel.from_config(config).eval()
    parameters = inspect.signature(made.forward).parameters
    if made.main_input_name == "pixel_values":
        size = getattr(config, "image_size", None) or 224
        height, width = size if isinstance(size, list | tuple) else (size, size)
        given: dict[str, Any] = {"pixel_values": torch.zeros(2, 3, height, width)}
    else:
        given = {"input_ids": torch.zeros(2, 12, dtype=torch.long)}
        if "decoder_input_ids" in parameters:
            given["decoder_input_ids"] = torch.zeros(2, 7, dtype=torch.long)
    return config, made, given | ({"use_cache": False} if "use_cache" in parameters else {})


@pytest.mark.parametrize("kind", [*TEXT, *IMAGES])
def test_the_counter(kind: str) -> None:
    """FLOPs forward and both ways, as torch's counter on the same model."""
    device = "cpu" if kind in ON_CPU else "meta"
    _, made, given = model(kind, device)
    layer = ps.from_module(made, **given)
    found = ps.flops(layer).total, ps.flops(layer, way="both").total
    placed = {name: one.to(device) if isinstance(one, torch.Tensor) else one for name, one in given.items()}
    assert found == counted_on(made, placed)


@pytest.mark.parametrize("kind", STATED)
def test_the_families(kind: str) -> None:
    """The computation that is read and the one that a family states have the same FLOPs, forward and both ways."""
    config, made, given = model(kind)
    layer, family = ps.from_module(made, **given), ps.from_config(config.to_dict(), type(made).__name__)
    shapes = {name: tuple(one.shape) for name, one in given.items() if isinstance(one, torch.Tensor)}
    for way in ("forward", "both"):
        assert ps.flops(layer, way=way).total == ps.flops(family, way=way, **shapes).total


@pytest.mark.parametrize("kind", ["bert", "llama", "gemma2", "mixtral", "deepseek_v3", "smollm3", "cohere2", "gpt_oss"])
def test_letters(kind: str) -> None:
    """A formula in the batch and the length, read at small sizes, holds at others."""
    _, made, given = model(kind)
    layer = ps.from_module(made, **given)
    formula = ps.flops(layer, input_ids=(B, S))
    for batch, length in ((1, 29), (5, 18), (7, 64)):
        assert formula.at(B=batch, S=length).total == ps.flops(layer, input_ids=(batch, length)).total


def test_chunks_have_no_formula() -> None:
    """Mamba 2 pads to chunks of 256 positions: what holds for one chunk does not hold for two."""
    _, made, given = model("mamba2")
    with pytest.raises(NotYetError, match=r"the operators for S = \d+ and S = \d+ differ"):
        ps.flops(ps.from_module(made, **given), input_ids=(B, S))


TINY = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "hidden_size": 32, "intermediate_size": 48}


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("llama", {}),
        ("mamba2", {"num_heads": 8, "head_dim": 8, "n_groups": 2, "state_size": 8}),
        ("t5", {"d_model": 32, "d_kv": 8, "num_layers": 2, "num_heads": 4, "d_ff": 48}),
    ],
)
def test_the_returned_cache(kind: str, more: dict[str, Any]) -> None:
    """As many numbers as in the arrays of the cache that the model returns."""
    config = transformers.AutoConfig.for_model(kind, **({} if kind == "t5" else TINY), **more, vocab_size=60, use_cache=True)
    made = transformers.AutoModel.from_config(config).eval()
    given = {"input_ids": torch.zeros(2, 12, dtype=torch.long)}
    given |= {"decoder_input_ids": torch.zeros(2, 7, dtype=torch.long)} if kind == "t5" else {}
    with torch.no_grad():
        output = made(**given, use_cache=True)
    cache = output.cache_params if kind == "mamba2" else output.past_key_values
    parts = [cache.self_attention_cache, cache.cross_attention_cache] if kind == "t5" else [cache]
    words = ("conv_states", "recurrent_states") if kind == "mamba2" else ("keys", "values")
    kept = [getattr(one, word) for part in parts for one in part.layers for word in words]
    wanted = sum(one.numel() for each in kept for one in (each.values() if isinstance(each, dict) else [each]))
    layer = ps.from_module(made, **given, use_cache=True)
    found = ps.kv_cache(layer)
    assert found.total == wanted > 0
    assert ps.kv_cache(layer, dtype="float16").total == 2 * wanted
    if kind == "llama":
        assert [str(line.path[-1]) for line in found.ledger] == ["keys", "values"]
        assert ps.kv_cache(layer, input_ids=(B, S)).at(B=2, S=12).total == wanted


def test_no_cache() -> None:
    """An encoder, and a decoder that was told to return none."""
    config = transformers.AutoConfig.for_model("llama", **TINY)
    layer = ps.from_module(transformers.AutoModel.from_config(config), input_ids=torch.zeros(2, 12, dtype=torch.long), use_cache=False)
    with pytest.raises(NotYetError, match=r"LlamaModel returns no cache, .* use_cache=True"):
        ps.kv_cache(layer)
    with pytest.raises(NotYetError, match=r"takes no past"):
        ps.flops(layer, past=8)
