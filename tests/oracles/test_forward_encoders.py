"""What sampled configurations of BERT's descendants leave out: decoders that attend to an encoder, DeBERTa's newer head of words."""

from __future__ import annotations

from typing import Any

import pytest
from frameworks import imported, widened
from oracles.runnable import TOKENS
from oracles.test_forward_models import TOLERANCE, outputs, randomised
from oracles.test_live_shapes import built

import paramsym as ps
from paramsym.errors import ShapeError
from paramsym.testing.running import largest_difference

SMALL = {"vocab_size": 40, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 24}
DECODER = {**SMALL, "max_position_embeddings": 20, "type_vocab_size": 2, "is_decoder": True, "add_cross_attention": True}


def compared(model_type: str, architecture: str, config: dict[str, Any], features: int | None = None) -> Any:
    """Fail unless a model computes what the reference computes, given numbers of tokens and what an encoder gives; return the model."""
    torch, transformers, xp = imported("torch"), imported("transformers"), imported("numpy")
    model = ps.from_config({"model_type": model_type, **config, **TOKENS}, architecture)
    given = {"input_ids": torch.randint(3, 40, (2, 5), generator=torch.Generator().manual_seed(0))}
    if features is not None:
        given["encoder_hidden_states"] = torch.randn((2, 7, features), generator=torch.Generator().manual_seed(1)).double()
    with widened(), torch.no_grad():
        module = randomised(torch, built(transformers, model_type, architecture, config))
        wanted = outputs(module(**given))
    tensors = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    largest_difference(xp, model, ps.run(model, tensors, *(one.numpy() for one in given.values())), wanted, TOLERANCE)
    return model


@pytest.mark.parametrize(
    ("model_type", "architecture"),
    [
        ("bert", "BertModel"),
        ("bert", "BertLMHeadModel"),
        ("roberta", "RobertaModel"),
        ("roberta", "RobertaForCausalLM"),
        ("xlm-roberta", "XLMRobertaForCausalLM"),
        ("electra", "ElectraModel"),
        ("electra", "ElectraForCausalLM"),
    ],
)
def test_cross_attention(model_type: str, architecture: str) -> None:
    """With and without what an encoder gives; its keys and values stay beside the decoder's own."""
    config = {**DECODER, **({"embedding_size": 8} if model_type == "electra" else {})}
    compared(model_type, architecture, config)
    model = compared(model_type, architecture, config, features=16)
    shapes = {"input_ids": (2, 5), "encoder_hidden_states": (2, 7, 16)}
    assert list(model.inputs) == list(shapes)
    program = str(ps.trace(model, **shapes))
    assert program.count("remember key") == program.count("remember value") == 2


@pytest.mark.parametrize("model_type", ["bert", "roberta", "electra"])
def test_classes_without_memory(model_type: str) -> None:
    """Classes whose reference takes nothing from an encoder refuse it."""
    model = ps.from_config({"model_type": model_type, **DECODER}, f"{model_type.capitalize()}ForMaskedLM")
    with pytest.raises(ShapeError, match="found 2"):
        ps.output_shape(model, ((2, 5), (2, 7, 16)))
    with pytest.raises(ShapeError, match="takes no encoder_hidden_states"):
        ps.trace(model, (2, 5), (2, 7, 16))


def test_newer_head_of_words() -> None:
    """DeBERTa without ``legacy`` multiplies with the table of the words."""
    compared("deberta-v2", "DebertaV2ForMaskedLM", {**SMALL, "max_position_embeddings": 20, "legacy": False})
