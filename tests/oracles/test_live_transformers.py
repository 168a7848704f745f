"""transformers' own classes, where they are installed: certificates for whole models, and sizes beyond the grid."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from frameworks import imported, on_meta
from recorded import rows

import paramsym as ps
from paramsym.errors import RefutedError
from paramsym.testing import certify

Spec = tuple[ps.Layer, str, str, dict[str, str], dict[str, Any]]
"""The layer, the reference's classes of model and configuration, its keys by symbol, and what is fixed."""

_BERT_KEYS = {
    "V": "vocab_size",
    "H": "hidden_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "F": "intermediate_size",
    "P": "max_position_embeddings",
    "T": "type_vocab_size",
}
_BERT_FIXED = {"pad_token_id": None, "tie_word_embeddings": True}
_GPT2_KEYS = {"V": "vocab_size", "H": "n_embd", "L": "n_layer", "A": "n_head", "P": "n_positions"}
_GPT2_FIXED = {"bos_token_id": None, "eos_token_id": None}
_VIT_KEYS = {
    "W": "image_size",
    "K": "patch_size",
    "C": "num_channels",
    "H": "hidden_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "F": "intermediate_size",
}
MODELS: list[Spec] = [
    (ps.models.Bert(), "BertModel", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(add_pooling_layer=False), "BertModel", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(architecture="BertForMaskedLM"), "BertForMaskedLM", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Bert(architecture="BertForPreTraining"), "BertForPreTraining", "BertConfig", _BERT_KEYS, _BERT_FIXED),
    (ps.models.Gpt2(), "GPT2Model", "GPT2Config", _GPT2_KEYS, _GPT2_FIXED),
    (ps.models.Gpt2(architecture="GPT2LMHeadModel"), "GPT2LMHeadModel", "GPT2Config", _GPT2_KEYS, _GPT2_FIXED),
    (ps.models.Vit(add_pooling_layer=False), "ViTModel", "ViTConfig", _VIT_KEYS, {}),
]
every_model = pytest.mark.parametrize("spec", MODELS, ids=lambda spec: repr(spec[0]))


def builder(spec: Spec) -> Callable[..., Any]:
    """Return a builder of the reference's model on the meta device."""
    torch, transformers = imported("torch"), imported("transformers")
    layer, model, configuration, keys, fixed = spec
    keep = {} if getattr(layer, "add_pooling_layer", True) or model not in {"BertModel", "ViTModel"} else {"add_pooling_layer": False}

    def build(**sizes: int) -> Any:
        config = getattr(transformers, configuration)(**{keys[name]: size for name, size in sizes.items()}, **fixed)
        with torch.device("meta"):
            return getattr(transformers, model)(config, **keep)

    return build


@every_model
def test_certificate(spec: Spec) -> None:
    """Names, every axis, ties and the count are the reference's on every valid size."""
    proof = certify(spec[0], builder(spec))
    assert proof.compared == "tensors"
    assert proof.lattice.whole
    assert {"torch", "transformers"} <= set(proof.versions)


@every_model
def test_sampled_sizes(spec: Spec) -> None:
    """Sizes beyond the grid agree as well."""
    pytest.importorskip("hypothesis")
    from paramsym.testing import check_against

    bounds = {name: bound for name, bound in {"L": 4, "W": 48}.items() if name in {s.name for s in spec[0].symbols}}
    check_against(spec[0], builder(spec), examples=5, largest={symbol.name: 96 for symbol in spec[0].symbols} | bounds)


def test_a_bert_without_its_tie_is_refuted() -> None:
    """Equal names and shapes; the output matrix is counted twice, and the message names it."""
    spec = (ps.models.Bert(architecture="BertForMaskedLM", tie_word_embeddings=False), *MODELS[2][1:])
    with pytest.raises(RefutedError, match=r"cls\.predictions\.decoder\.weight"):
        certify(spec[0], builder(spec))


# How long it takes ------------------------------------------------------------------------------------------------------------

QUICK = ("qwen2_moe", "qwen3_moe", "deepseek_v2", "deepseek_v3", "clip", "t5", "bert")
"""The families with the most parts for their size, and one as a measure."""


@pytest.mark.parametrize("family", QUICK)
def test_warm(family: str) -> None:
    """A configuration is read in a fifth of the time in which the reference builds it without weights, or in 2 ms where that is more."""
    transformers = imported("transformers")
    transformers.logging.set_verbosity_error()
    row = next(row for row in rows("hf_random") if row["config"]["model_type"] == family)
    config, model_class = transformers.AutoConfig.for_model(**row["config"]), getattr(transformers, row["model_class"])

    def ours() -> object:
        return ps.from_config(row["config"], row["model_class"])

    def theirs() -> object:
        return on_meta(lambda: model_class(config))

    ours(), theirs()
    # In turn, so that a busy machine is busy for both.
    taken = [(timeit.timeit(theirs, number=1), timeit.timeit(ours, number=1), timeit.timeit(ours, number=1)) for _ in range(10)]
    built, read = min(one for one, _, _ in taken), min(min(pair) for _, *pair in taken)
    assert read <= max(built / 5, 0.002), f"{read * 1000:.2f} ms to read, {built * 1000:.2f} ms to build"


def test_cold(tmp_path: Path) -> None:
    """The command line counts DeepSeek-V3 in a quarter of the time that the reference takes to build it, imports on both sides."""
    imported("transformers")
    row = next(row for row in rows("hf_checkpoints") if row["checkpoint"].startswith("deepseek-ai/DeepSeek-V3"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**row["config"], "architectures": [row["model_class"]]}), encoding="utf-8")
    build = (
        "import json, sys, torch, transformers\n"
        "config = transformers.AutoConfig.for_model(**json.load(open(sys.argv[1])))\n"
        "with torch.device('meta'):\n"
        "    model = transformers.DeepseekV3ForCausalLM(config)\n"
        "print(sum(parameter.numel() for parameter in model.parameters()))\n"
    )

    def seconds(*command: str) -> float:
        began = time.perf_counter()
        said = subprocess.run([sys.executable, *command], capture_output=True, check=True, cwd=Path(ps.__file__).parents[1], text=True)
        assert int(said.stdout) == row["n_params"]
        return time.perf_counter() - began

    assert seconds("-m", "paramsym", "count", str(file)) <= seconds("-c", build, str(file)) / 4
