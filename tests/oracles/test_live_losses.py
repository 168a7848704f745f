"""Bytes held for the logits and the loss by a real process, against ``activations(..., loss=)`` and ``memory``: models of transformers."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

DECODER = {"vocab_size": 96, "hidden_size": 48, "num_attention_heads": 6, "num_hidden_layers": 1, "intermediate_size": 80}
SIZES: dict[str, tuple[str, dict[str, Any]]] = {
    "LlamaForCausalLM": ("LlamaConfig", {**DECODER, "num_key_value_heads": 2, "max_position_embeddings": 32}),
    "GPT2LMHeadModel": ("GPT2Config", {"vocab_size": 96, "n_positions": 32, "n_embd": 48, "n_layer": 1, "n_head": 4}),
    "BertForMaskedLM": ("BertConfig", {**DECODER, "max_position_embeddings": 32}),
    "BertLMHeadModel": ("BertConfig", {**DECODER, "max_position_embeddings": 32, "is_decoder": True}),
    "RobertaForMaskedLM": ("RobertaConfig", {**DECODER, "max_position_embeddings": 34}),
    "T5ForConditionalGeneration": (
        "T5Config",
        {"vocab_size": 96, "d_model": 48, "d_kv": 8, "d_ff": 80, "num_layers": 1, "num_heads": 6, "decoder_start_token_id": 0},
    ),
}


def held(architecture: str, dtype: str, shape: tuple[int, int], *, labels: bool) -> tuple[int, int]:
    """Return the bytes that autograd holds after a forward pass, and those of the logits."""
    name, sizes = SIZES[architecture]
    torch.manual_seed(0)
    model = getattr(transformers, architecture)(getattr(transformers, name)(**sizes)).to(getattr(torch, dtype)).train()
    words = torch.randint(3, 96, shape)
    given = {"input_ids": words, "labels": words.clone()}
    if "T5" in architecture:  # made from the labels if it is not given
        given["decoder_input_ids"] = words.clone()
    known = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers(), *given.values())}
    storages: dict[int, Any] = {}

    def pack(saved: Any) -> Any:
        storages.setdefault(saved.untyped_storage().data_ptr(), saved.untyped_storage())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        output = model(**(given if labels else {key: one for key, one in given.items() if key != "labels"}), use_cache=False)
    assert output.logits.untyped_storage().data_ptr() not in storages
    return sum(one.nbytes() for key, one in storages.items() if key not in known), output.logits.untyped_storage().nbytes()


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("architecture", SIZES)
def test_logits_and_loss(architecture: str, dtype: str) -> None:
    """The difference between a forward pass with targets and one without, to the byte, and the logits."""
    shape = (2, 7)
    with_loss, logits = held(architecture, dtype, shape, labels=True)
    without, _ = held(architecture, dtype, shape, labels=False)
    name, sizes = SIZES[architecture]
    model = ps.from_config(getattr(transformers, name)(**sizes).to_dict(), architecture)
    shapes = (shape, shape) if "T5" in architecture else (shape,)
    cost = ps.memory(model, *shapes, dtype=dtype, convention="torch-eager-cpu")
    parts = {kind: cost.ledger.where(lambda line, kind=kind: line.path[0] == kind).used for kind in ("logits", "loss")}
    assert parts == {"logits": logits, "loss": with_loss - without}
    kept = [ps.activations(model, *shapes, dtype=dtype, loss=loss).total for loss in (True, False)]
    assert kept[0] - kept[1] == sum(parts.values())
    assert cost.total - ps.memory(model, *shapes, dtype=dtype, convention="torch-eager-cpu", loss=False).total == sum(parts.values())


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_loss_in_chunks(dtype: str) -> None:
    """Torch's loss of the head's input: it holds the gradient of that input and of the matrix, and no scores."""
    from torch.nn import LinearCrossEntropyOptions

    x = torch.randn(64, 8, dtype=getattr(torch, dtype), requires_grad=True)
    weight = torch.randn(96, 8, dtype=getattr(torch, dtype), requires_grad=True)
    loss = torch.nn.functional.linear_cross_entropy(x, weight, torch.randint(0, 96, (64,)), options=LinearCrossEntropyOptions())
    stashed = [one for one in vars(loss.grad_fn).values() if isinstance(one, torch.Tensor)]
    assert {tuple(one.shape) for one in stashed} == {(64, 8), (96, 8)}
    assert {one.dtype for one in stashed} == {x.dtype}
    head = ps.Dense(8, 96, bias=False)
    plain, chunked = (ps.activations(ps.Sequential(ps.Dense(8, 8), head), (64, 8), dtype=dtype, loss=loss) for loss in (False, "chunked"))
    assert plain.ledger == chunked.ledger  # the head's input is as long as its gradient, and memory counts the matrix's gradient anyway
