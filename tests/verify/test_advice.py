"""What a report says to do, and that doing it helps: wrappers, prefixes, adapters, fused tensors, old buffers, other frameworks."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from frameworks import imported

import paramsym as ps
from paramsym import H, L
from paramsym.errors import RefutedError
from paramsym.testing import assert_matches, check_against
from paramsym.verify.match import Match

TWO = ps.Sequential(ps.Dense(4, 5), ps.Dense(5, 3))
SHAPES = {"0.weight": (5, 4), "0.bias": (5,), "1.weight": (3, 5), "1.bias": (3,)}


def table_in(found: Match) -> Any:
    """Return the renaming table that a report advises."""
    return ast.literal_eval(re.search(r"rename=(\{.*\})", str(found))[1])  # type: ignore[index]


@pytest.mark.parametrize(
    "prefix", ["module.", "_orig_mod.", "module._orig_mod.", "_fsdp_wrapped_module.", "base_model.model.", "model.", "net."]
)
def test_prefixes_of_wrappers(prefix: str) -> None:
    """The report says so, and reading them so matches; also where sizes and depth are symbols."""
    wrapped = {f"{prefix}{name}": shape for name, shape in SHAPES.items()}
    found = ps.match(TWO, wrapped)
    assert len(found.missing) == len(found.unexpected) == 4
    assert "rename='auto' reads such names" in str(found)
    again = ps.match(TWO, wrapped, rename="auto")
    assert again.ok
    assert prefix.partition(".")[0] in str(again)
    assert_matches(TWO, wrapped, rename="auto")
    deep = {f"{prefix}{number}.weight": (3, 3) for number in range(3)}
    assert ps.match(ps.Repeat(ps.Dense(H, H, bias=False), L), deep, rename="auto").sizes == {H: 3, L: 3}


def test_a_wrapper_deep_inside() -> None:
    """Blocks that were compiled or sharded one by one."""
    inside = {name.replace(".", "._checkpoint_wrapped_module._orig_mod."): shape for name, shape in SHAPES.items()}
    assert not ps.match(TWO, inside)
    assert ps.match(TWO, inside, rename="auto").ok


def test_reading_so_hides_nothing() -> None:
    """A tensor too many stays one, under the name it has; a missing one stays missing; names that would meet are left alone."""
    wrapped = {f"module.{name}": shape for name, shape in SHAPES.items()}
    found = ps.match(TWO, {**wrapped, "module.2.weight": (1, 1)}, rename="auto")
    assert (found.unexpected, found.missing) == (("module.2.weight",), ())
    del wrapped["module.1.bias"]
    assert ps.match(TWO, wrapped, rename="auto").missing == ("1.bias",)
    both = ps.match(TWO, {**SHAPES, "module.0.weight": (5, 4)}, rename="auto")
    assert both.unexpected == ("module.0.weight",)
    assert ps.match(ps.Block(module=TWO), {f"module.{name}": shape for name, shape in SHAPES.items()}, rename="auto").ok


def test_wrapped_modules_keep_their_ties_and_buffers() -> None:
    """What is shared and what is a buffer is read under the new names, too."""
    nn = imported("torch").nn
    module = nn.Sequential(nn.Embedding(5, 3), nn.BatchNorm1d(3), nn.Linear(3, 5, bias=False))
    loose = ps.Sequential(ps.Embedding(5, 3), ps.BatchNorm1d(3), ps.Dense(3, 5, bias=False))
    assert ps.match(loose, nn.DataParallel(module), rename="auto").ok
    module[2].weight = module[0].weight
    wrapped = nn.DataParallel(module)
    assert ps.match(loose, wrapped, rename="auto").mismatched == ("2.weight",)
    assert ps.match(ps.Tied(loose, {"2.weight": "0.weight"}), wrapped, rename="auto").ok
    assert ps.match(loose, imported("torch").compile(module), rename="auto").mismatched == ("2.weight",)


def test_properties_and_proofs_take_it() -> None:
    """Wherever a renaming table is taken."""
    layer = ps.Dense(H, ps.F)
    check_against(layer, lambda F, H: {"module.weight": (F, H), "module.bias": (F,)}, rename="auto")
    assert ps.testing.certify(layer, lambda F, H: {"module.weight": (F, H), "module.bias": (F,)}, rename="auto").instances == 4
    with pytest.raises(RefutedError, match="rename='auto' reads such names"):
        assert_matches(TWO, {f"module.{name}": shape for name, shape in SHAPES.items()})


def test_fused_projections() -> None:
    """One table for all copies, and it works."""
    part = ps.Block(q=ps.Dense(H, H), k=ps.Dense(H, H), v=ps.Dense(H, H), up=ps.Dense(H, ps.F))
    layer = ps.Block(layers=2 * part).at(H=4, F=6)
    fused = {}
    for number in (0, 1):
        fused |= {f"layers.{number}.qkv.weight": (12, 4), f"layers.{number}.qkv.bias": (12,)}
        fused |= {f"layers.{number}.up.weight": (6, 4), f"layers.{number}.up.bias": (6,)}
    found = ps.match(layer, fused)
    assert table_in(found)["layers.{}.qkv.weight"] == tuple(f"layers.{{}}.{which}.weight" for which in "qkv")
    assert ps.match(layer, fused, rename=table_in(found)).ok


def test_split_projections() -> None:
    """A fused tensor of the layer, stored in three; the labels say which is which."""
    names = ("q_proj", "k_proj", "v_proj")
    split: dict[str, tuple[int, ...]] = {f"{name}.weight": (8, 8) for name in names} | {f"{name}.bias": (8,) for name in names}
    split |= {"out_proj.weight": (8, 8), "out_proj.bias": (8,)}
    layer = ps.MultiheadAttention(8, 2)
    found = ps.match(layer, split)
    assert table_in(found)["k_proj.bias"] == "in_proj_bias[key]"
    assert ps.match(layer, split, rename=table_in(found)).ok


def test_old_buffers() -> None:
    """Rotary frequencies, position numbers and masks that older versions saved."""
    old = {**SHAPES, "0.inv_freq": (2,), "position_ids": (1, 5), "1.attn.masked_bias": ()}
    found = ps.match(TWO, old)
    assert len(found.unexpected) == 3
    assert "older versions" in str(found)
    assert ps.match(TWO, old, rename="auto").ok


def test_other_frameworks_names() -> None:
    """Keras and Flax call a weight a kernel."""
    found = ps.match(TWO, {"0.kernel": (4, 5), "0.bias": (5,), "1.kernel": (5, 3), "1.bias": (3,)})
    assert "dialect='keras' or 'flax'" in str(found)


def test_nothing_in_common_is_no_advice() -> None:
    """Advice without ground would lead astray."""
    found = ps.match(TWO, {"other": (7, 7)})
    assert not found.ok
    assert not found.notes


BERT = {"vocab_size": 30, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 12}
QUERY = "encoder.layer.{}.attention.self.query"


@pytest.mark.filterwarnings("ignore:Adapter 'default'")
@pytest.mark.parametrize("options", [{}, {"use_dora": True}, {"lora_bias": True}], ids=str)
def test_adapters_of_peft(options: dict[str, Any], tmp_path: Path) -> None:
    """The report says where they sit; with them put in, the module matches, and its file but for what is frozen."""
    transformers, peft = imported("transformers"), imported("peft")
    config = transformers.BertConfig(**BERT)
    module = peft.get_peft_model(transformers.BertModel(config), peft.LoraConfig(r=3, target_modules=["query"], **options))
    layer = ps.from_config({"model_type": "bert", **BERT}, "BertModel")
    found = ps.match(layer, module)
    advised = next(note for note in found.notes if "low-rank adapters" in note)
    assert f"layer.freeze().replace('{QUERY}', ps.LoRA(layer.part('{QUERY.replace('{}', '0')}'), 3))" in advised
    adapted = layer.freeze().replace(QUERY, ps.LoRA(layer.part(QUERY.replace("{}", "0")), 3, **options))
    whole = ps.match(adapted, module, rename="auto")
    assert whole.ok
    assert adapted.trainable == module.get_nb_trainable_parameters()[0]
    module.save_pretrained(tmp_path)
    saved = ps.match(adapted, tmp_path, rename="auto")
    assert not saved.unexpected
    assert not saved.mismatched
    assert len(saved.equal) == len([parameter for parameter in module.parameters() if parameter.requires_grad])
    assert "frozen in the layer" in str(saved)


@pytest.mark.filterwarnings("ignore:Adapter 'default'")
def test_modules_that_peft_trains_whole() -> None:
    """Beside the copy that is trained stands the module as it was, which no model has."""
    nn, peft = imported("torch").nn, imported("peft")
    module = nn.Sequential(OrderedDict(body=nn.Linear(8, 16), head=nn.Linear(16, 3)))
    adapted = peft.get_peft_model(module, peft.LoraConfig(r=2, target_modules=["body"], modules_to_save=["head"]))
    layer = ps.Block(body=ps.LoRA(ps.Dense(8, 16), 2), head=ps.Dense(16, 3))
    found = ps.match(layer, adapted, rename="auto")
    assert not found.missing
    assert not found.mismatched
    assert found.unexpected == tuple(f"base_model.model.head.original_module.{name}" for name in ("weight", "bias"))
    assert "modules_to_save" in str(found)


def test_a_source_with_frozen_tensors_is_no_adapters_file() -> None:
    """What was trained alone is said of a source that holds nothing else."""
    layer = ps.Block(a=ps.Dense(2, 2), b=ps.Dense(2, 2), c=ps.Dense(2, 2)).freeze("a").freeze("b")
    alone = {"c.weight": (2, 2), "c.bias": (2,)}
    assert "contains only trained tensors" in str(ps.match(layer, alone))
    assert "contains only trained tensors" not in str(ps.match(layer, {**alone, "a.weight": (2, 2), "a.bias": (2,)}))


def test_gates_of_nnx() -> None:
    """``if`` is a keyword of Python, so NNX writes ``if_``."""
    nnx = imported("flax.nnx")
    layer = ps.LSTMCell(3, 4, dialect="flax")
    cell = nnx.LSTMCell(3, 4, rngs=nnx.Rngs(0))
    assert ps.match(layer, cell).unexpected == ("if_.kernel",)
    assert ps.match(layer, cell, rename="auto").ok
