"""Bytes held by a real process after a forward pass, against ``activations``: one block of GPT-2, of Llama and of Mixtral on torch."""

from __future__ import annotations

from typing import Any

import pytest

import paramsym as ps

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES: dict[str, dict[str, Any]] = {
    "GPT2": {
        "vocab_size": 96,
        "n_positions": 32,
        "n_embd": 48,
        "n_layer": 1,
        "n_head": 4,
        "resid_pdrop": 0,
        "embd_pdrop": 0,
        "attn_pdrop": 0,
    },
    "Llama": {
        "vocab_size": 96,
        "hidden_size": 48,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "intermediate_size": 80,
        "num_hidden_layers": 1,
        "max_position_embeddings": 32,
    },
    "Mixtral": {
        "vocab_size": 96,
        "hidden_size": 48,
        "num_attention_heads": 6,
        "num_key_value_heads": 2,
        "intermediate_size": 80,
        "num_hidden_layers": 1,
        "max_position_embeddings": 32,
        "num_local_experts": 4,
        "num_experts_per_tok": 2,
    },
}


def held(family: str, shape: tuple[int, int], attention: str, dtype: str) -> int:
    """Return the bytes of the storages that autograd holds after a forward pass, parameters, buffers and inputs left out."""
    config = getattr(transformers, f"{family}Config")(**SIZES[family])
    config._experts_implementation = "eager"
    torch.manual_seed(0)
    model = getattr(transformers, f"{family}Model")._from_config(config, attn_implementation=attention).to(getattr(torch, dtype)).train()
    words = torch.randint(0, 96, shape)
    known = {one.untyped_storage().data_ptr() for one in (*model.parameters(), *model.buffers(), words)}
    storages: dict[int, Any] = {}

    def pack(saved: Any) -> Any:
        storages.setdefault(saved.untyped_storage().data_ptr(), saved.untyped_storage())
        return saved

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved):
        output = model(input_ids=words, use_cache=False).last_hidden_state
    assert output.requires_grad
    return sum(storage.nbytes() for pointer, storage in storages.items() if pointer not in known)


# Mixtral's router works in float32 all through, which the program does not say: 2*(E + 2*K + 1) bytes per position more in 16 bits.
@pytest.mark.parametrize(
    ("family", "dtype"),
    [("GPT2", "float32"), ("GPT2", "bfloat16"), ("Llama", "float32"), ("Llama", "bfloat16"), ("Mixtral", "float32")],
)
@pytest.mark.parametrize("attention", ["eager", "sdpa"])
@pytest.mark.parametrize("shape", [(1, 5), (3, 16)])
def test_bytes(family: str, shape: tuple[int, int], attention: str, dtype: str) -> None:
    """No residue: as many bytes as the storages have."""
    config = getattr(transformers, f"{family}Config")(**SIZES[family])
    model = ps.from_config(config.to_dict(), f"{family}Model")
    found = ps.activations(model, shape, convention=f"torch-{attention}-cpu", dtype=dtype).total
    assert found == held(family, shape, attention, dtype)
