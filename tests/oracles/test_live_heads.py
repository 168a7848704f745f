"""Dropout in the heads of text models: the bytes that torch keeps with separate rates for the heads, against ``activations``."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

BERT: dict[str, Any] = {
    "vocab_size": 60,
    "hidden_size": 24,
    "num_hidden_layers": 1,
    "num_attention_heads": 3,
    "intermediate_size": 40,
    "max_position_embeddings": 40,
    "num_labels": 2,
}
DISTIL: dict[str, Any] = {"vocab_size": 60, "dim": 24, "n_layers": 1, "n_heads": 3, "hidden_dim": 40, "max_position_embeddings": 40}
GPT2: dict[str, Any] = {"vocab_size": 60, "n_embd": 24, "n_layer": 1, "n_head": 3, "n_positions": 40}
BART: dict[str, Any] = {
    "vocab_size": 60,
    "d_model": 24,
    **{f"{stack}_{size}": number for stack in ("encoder", "decoder") for size, number in (("layers", 1), ("attention_heads", 3))},
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 40,
}
T5: dict[str, Any] = {"vocab_size": 60, "d_model": 24, "d_kv": 8, "d_ff": 40, "num_layers": 1, "num_heads": 3, "decoder_start_token_id": 0}
RATES: dict[str, tuple[dict[str, Any], dict[str, float], dict[str, float]]] = {
    "Bert": (BERT, {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}, {"classifier_dropout": 0.3}),
    "Roberta": (BERT, {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}, {"classifier_dropout": 0.3}),
    "Electra": (
        {**BERT, "embedding_size": 16},
        {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "summary_last_dropout": 0.0},
        {"classifier_dropout": 0.3, "summary_last_dropout": 0.2},
    ),
    "Albert": (
        {**BERT, "embedding_size": 16},
        {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0, "classifier_dropout_prob": 0.0},
        {"classifier_dropout_prob": 0.3},
    ),
    "DistilBert": (
        DISTIL,
        {"dropout": 0.0, "attention_dropout": 0.0, "seq_classif_dropout": 0.0, "qa_dropout": 0.0},
        {"seq_classif_dropout": 0.3, "qa_dropout": 0.2},
    ),
    "DebertaV2": (
        BERT,
        {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0},
        {"cls_dropout": 0.3, "pooler_dropout": 0.2},
    ),
    "Bart": (BART, {"dropout": 0.0}, {"classifier_dropout": 0.3}),
    "MBart": (BART, {"dropout": 0.0}, {"classifier_dropout": 0.3}),
    "T5": (T5, {"dropout_rate": 0.0}, {"classifier_dropout": 0.3}),
    "MT5": (T5, {"dropout_rate": 0.0}, {"classifier_dropout": 0.3}),
    "UMT5": (T5, {"dropout_rate": 0.0}, {"classifier_dropout": 0.3}),
    "GPT2": (
        GPT2,
        {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0, "summary_first_dropout": 0.0},
        {"summary_first_dropout": 0.1, "summary_last_dropout": 0.1},
    ),
}
CLASSES = ("ForSequenceClassification", "ForTokenClassification", "ForMultipleChoice", "ForQuestionAnswering")
HEADS = [(name, kind) for name in RATES for kind in CLASSES if hasattr(transformers, f"{name}{kind}") and name != "GPT2"] + [
    ("Albert", "ForPreTraining"),
    ("GPT2", "DoubleHeadsModel"),
]
LLAMA: dict[str, Any] = {"vocab_size": 60, "hidden_size": 24, "num_hidden_layers": 1, "num_attention_heads": 3, "intermediate_size": 40}
DECODERS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Llama": (LLAMA, {}),
    "Qwen2": ({**LLAMA, "num_key_value_heads": 3}, {"classifier_dropout": 0.3}),
    "GPTNeoX": ({**LLAMA, "max_position_embeddings": 40}, {"classifier_dropout": 0.0}),
    "Falcon": ({name: size for name, size in LLAMA.items() if name != "intermediate_size"}, {"hidden_dropout": 0.0}),
    "Bloom": ({"vocab_size": 60, "hidden_size": 24, "n_layer": 1, "n_head": 3}, {"hidden_dropout": 0.0, "attention_dropout": 0.0}),
    "GPT2": (GPT2, {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}),
}


def held(name: str, kind: str, config: dict[str, Any], shape: tuple[int, ...]) -> int:
    """Return the bytes of the storages that autograd holds after a forward pass, parameters, buffers and inputs left out."""
    torch.manual_seed(0)
    cls = getattr(transformers, f"{name}{kind}")
    model = cls._from_config(cls.config_class(**config), attn_implementation="eager").train()
    words = torch.randint(5, 60, shape)
    if model.config.is_encoder_decoder:
        words[:, -1] = model.config.eos_token_id  # without it, the reference refuses a text
    known = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers(), words)}
    storages: dict[int, Any] = {}

    def pack(saved: Any) -> Any:
        storages.setdefault(saved.untyped_storage().data_ptr(), saved.untyped_storage())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        output = model(input_ids=words)
    assert output is not None
    return sum(storage.nbytes() for pointer, storage in storages.items() if pointer not in known)


@pytest.mark.parametrize(("name", "kind"), HEADS)
def test_dropped(name: str, kind: str) -> None:
    """Dropout adds as many bytes as in torch; a head without its own rate has that of the hidden states."""
    sizes, none, rates = RATES[name]
    shape = (2, 3, 7) if kind in {"ForMultipleChoice", "DoubleHeadsModel"} else (2, 7)
    kind_of = getattr(transformers, f"{name}{kind}").config_class

    def both(more: dict[str, float]) -> tuple[int, int]:
        config = kind_of(**{**sizes, **none, **more}).to_dict()
        found = ps.activations(ps.from_config(config, f"{name}{kind}"), shape, convention="torch-eager-cpu").total
        return int(found), held(name, kind, {**sizes, **none, **more}, shape)

    without, with_rates = both({}), both(rates)
    assert with_rates[0] - without[0] == with_rates[1] - without[1]


@pytest.mark.parametrize("name", DECODERS)
def test_tokens_of_decoders(name: str) -> None:
    """A token classifier has its own rate, that of the hidden states, or 0.1, and keeps as many bytes as in torch."""
    sizes, rates = DECODERS[name]
    kind_of = getattr(transformers, f"{name}ForTokenClassification").config_class
    config = kind_of(**{**sizes, **rates}).to_dict()
    found = ps.activations(ps.from_config(config, f"{name}ForTokenClassification"), (2, 7), convention="torch-eager-cpu").total
    assert found == held(name, "ForTokenClassification", {**sizes, **rates}, (2, 7))
