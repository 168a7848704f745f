"""Quantised and sharded checkpoints against their own configuration: sound ones agree, and every fault is found."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from amount import tries
from verify.quantised_files import CONFIG, Checkpoint, broken, drawn, sound

import paramsym as ps
from paramsym.errors import CheckpointError, ConfigError
from paramsym.verify.match import Match
from paramsym.verify.stored import kind

pytest.importorskip("safetensors")
pytest.importorskip("numpy")
QUERY = "model.layers.0.self_attn.q_proj"


def of_kind(name: str) -> Checkpoint:
    """Return the first sound checkpoint of a kind, without scales of scales."""
    found = (sound(random.Random(seed)) for seed in range(1000))
    return next(one for one in found if one.kind == name and not one.quantization.get("bnb_4bit_use_double_quant"))


def test_sound_ones_agree(tmp_path: Path) -> None:
    """A hundred of fifteen kinds; without the configuration, too, with sizes and with letters."""
    model = ps.from_config(CONFIG)
    for number, found in enumerate(drawn(sound, 100)):
        folder = found.write(tmp_path / str(number))
        verdict = ps.check(folder)
        assert verdict.ok, f"{found.kind}: {verdict}"
        if "kv_cache_scheme" in found.quantization:  # what the scales of a cache are, the configuration says
            continue
        matched = ps.match(model, folder)
        assert matched.ok, f"{found.kind}: {matched}"
        if number < 20:
            solved = ps.match(model.origin[0], folder)
            assert solved.ok, f"{found.kind}: {solved}"


def test_broken_ones_are_found(tmp_path: Path) -> None:
    """Three hundred of them, each with one fault."""
    for number, found in enumerate(drawn(broken, tries(300))):
        folder = found.write(tmp_path / str(number))
        try:
            verdict = ps.check(folder)
        except CheckpointError:
            assert found.moved  # the index contradicts its files
            continue
        assert not verdict.ok, f"{found.kind}, {found.broken}: {verdict}"


@pytest.mark.parametrize(
    ("name", "part", "shape", "words"),
    [
        ("GPTQ", "qweight", (3, 256), "qweight is (3, 256), not ("),
        ("GPTQ", "qzeros", (9, 9), "qzeros is (9, 9), not ("),
        ("GPTQ", "scales", (1, 64), "packed by GPTQ; scales is (1, 64), not ("),
        ("AWQ", "scales", (3, 256), "packed by AWQ; scales is (3, 256), not ("),
        ("bitsandbytes of 4 bits", "weight.absmax", (7,), "weight.absmax is (7,), not (1024,)"),
        ("bitsandbytes of 4 bits", "weight.absmax", (512,), "a scale for each 128 entries, where the other weights have one for each 64"),
        ("bitsandbytes of 8 bits", "SCB", (255,), "SCB is (255,), not (256,)"),
        ("float8 in blocks", "weight_scale_inv", (2, 1), "weight_scale_inv is (2, 1), not (2, 2)"),
        ("NVFP4", "weight_scale", (256, 8), "packed by NVFP4; weight_scale is (256, 8), not (256, 16)"),
    ],
)
def test_a_wrong_part_is_named(tmp_path: Path, name: str, part: str, shape: tuple[int, ...], words: str) -> None:
    """A tensor beside the weight, with its shape and the one that the scheme wants."""
    found = of_kind(name)
    found.tensors[f"{QUERY}.{part}"] = (found.tensors[f"{QUERY}.{part}"][0], shape)
    matched = ps.match(ps.from_config(CONFIG), found.write(tmp_path / "file"))
    assert matched.mismatched == (f"{QUERY}.weight",)
    assert matched.row(f"{QUERY}.weight").outcome == "wrong packing"
    assert words in matched.row(f"{QUERY}.weight").note


def test_what_the_configuration_says(tmp_path: Path) -> None:
    """Bits, groups, the method, and weights that are not quantised."""
    said = {"quant_method": "gptq", "bits": 4, "group_size": 128}

    def words(quantization: Any, name: str = "AWQ", **keys: Any) -> str:
        found = of_kind(name)
        found.quantization = quantization
        found.config |= keys
        verdict = ps.check(found.write(tmp_path / str(len(list(tmp_path.iterdir())))))
        assert not verdict
        return str(verdict)

    assert "packed by AWQ, where the config's quant_method 'gptq' means GPTQ" in words(said)
    assert "the file has no quantised weights" in words(said, "not quantised, in shards")
    assert "packed with bits 4, where the config says bits 8" in words({"quant_method": "awq", "bits": 8, "group_size": -1})
    assert ", where the config says groups 16" in words({"quant_method": "awq", "bits": 4, "group_size": 16})
    assert "where the config says groups 64x64" in words({"quant_method": "fp8", "weight_block_size": [64, 64]}, "float8 in blocks")
    for wrong in ({"bits": "four"}, {"bits": 0}, {"group_size": 0}, {"group_size": 1.5}):
        with pytest.raises(ConfigError, match="wanted a whole number from 1"):
            words({**said, **wrong})
    with pytest.raises(ConfigError, match="wanted a list of two sizes"):
        words({"quant_method": "fp8", "weight_block_size": 128}, "float8 in blocks")


def test_a_module_that_is_left_out(tmp_path: Path) -> None:
    """One block is as it was before: a fault, unless the configuration says so."""
    found = of_kind("AWQ")
    for name in [name for name in found.tensors if name.startswith(f"{QUERY}.")]:
        del found.tensors[name]
    found.tensors[f"{QUERY}.weight"] = ("F16", (256, 256))
    assert "not quantised, although its copies in other blocks are" in str(ps.check(found.write(tmp_path / "wrong")))
    found.quantization["modules_to_not_convert"] = ["layers.0.self_attn.q_proj"]
    assert ps.check(found.write(tmp_path / "right")).ok


def test_numbers_without_a_scale(tmp_path: Path) -> None:
    """Whole numbers are no parameters; numbers of 8 bits need a scale, unless the model has this dtype."""
    found = of_kind("not quantised, in shards")
    found.tensors = {name: ("F8_E4M3", shape) for name, (_, shape) in found.tensors.items()}
    assert "F8_E4M3 without a scale" in str(ps.check(found.write(tmp_path / "wrong")))
    found.config["dtype"] = "float8_e4m3fn"
    assert ps.check(found.write(tmp_path / "right")).ok
    scaled = of_kind("float8 in blocks")
    del scaled.tensors[f"{QUERY}.weight_scale_inv"]
    matched = ps.match(ps.from_config(CONFIG), scaled.write(tmp_path / "bare"))
    assert matched.row(f"{QUERY}.weight").outcome == "wrong dtype"
    found.tensors = {name: ("I64", shape) for name, (_, shape) in found.tensors.items()}
    whole = ps.match(ps.from_config(CONFIG), found.write(tmp_path / "whole"))
    assert {row.outcome for row in whole.rows} == {"wrong dtype"}
    assert "I64; a parameter is a real number" in str(whole)


def test_kinds_of_numbers() -> None:
    """The same kind from safetensors, torch and NumPy; nothing of a dtype that is not known."""
    assert [kind(one) for one in ("F16", "torch.bfloat16", "float64", "complex64", "C64")] == ["float"] * 5
    assert [kind(one) for one in ("F8_E8M0", "torch.float8_e5m2", "F4", "U8", "bool", "torch.qint8", "")] == [
        *("float8", "float8", "float4", "uint8", "bool", "", ""),
    ]


def test_a_transposed_weight() -> None:
    """Of a linear layer it is wrong; of GPT-2's, which stores the matrix transposed, it is how the library packs it."""
    shapes = {"qweight": (16, 256), "qzeros": (1, 32), "scales": (1, 256), "g_idx": (128,)}
    assert ps.match(ps.Dense(256, 128, bias=False), shapes).transposed == ("weight",)
    assert ps.match(ps.TransposedDense(128, 256), {**shapes, "bias": (256,)}).packed == ("weight",)


def test_other_files_and_names(tmp_path: Path) -> None:
    """A second file is mentioned, an adapter advised, and a prefix that no class has refused."""
    found = of_kind("AWQ")
    folder = found.write(tmp_path / "two")
    (folder / "consolidated.safetensors").write_bytes((folder / "model.safetensors").read_bytes())
    verdict = ps.check(folder)
    assert verdict.ok
    assert "consolidated.safetensors: beside it and not read" in str(verdict)
    base = {name.removeprefix("model."): stored for name, stored in found.tensors.items() if not name.startswith("lm_head")}
    found.config["architectures"] = ["LlamaModel"]
    found.tensors = {f"model.{name}": stored for name, stored in base.items()}
    assert ps.check(found.write(tmp_path / "known")).ok
    found.tensors = {f"foo.{name}": stored for name, stored in base.items()}
    assert "the names in the file begin with 'foo', which no class of this family has" in str(ps.check(found.write(tmp_path / "foo")))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (folder / "model.safetensors").rename(adapter / "adapter_model.safetensors")
    (adapter / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 3}))
    (adapter / "adapter_config.json").write_text("{}")
    assert "contains an adapter: compare it with a layer that has LoRA parts" in str(ps.check(adapter))


@pytest.mark.parametrize("name", list(ps.models.Deepseek.published))
def test_deepseek_with_letters_has_its_own_shapes(name: str) -> None:
    """Every published size, of every class of its type, is found again from its shapes."""
    published: str = getattr(ps.load(name), "architecture")  # noqa: B009 - no field of every layer
    for architecture in (published, published.replace("ForCausalLM", "Model")):
        sized = ps.load(name, architecture)
        found: Match = ps.match(sized.origin[0], sized.shapes())
        assert found.ok, str(found)
        assert all(sized.sizes[symbol] == size for symbol, size in found.sizes.items())
