"""diffusers' networks against what diffusers stores: recorded configurations come out exactly; what was not verified is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recorded

import paramsym as ps
from paramsym.atlas.diffusers import diffusers_type
from paramsym.atlas.files import diffusers_index, record_of
from paramsym.atlas.record import RecordError
from paramsym.cli import main
from paramsym.config import architectures_of
from paramsym.errors import ConfigError

ROWS = recorded.rows("diffusers")
NAMED = {row["name"]: row["config"] for row in ROWS if row["name"]}
UNET, VAE = NAMED["stable-diffusion-v1-5, unet"], NAMED["stable-diffusion-v1-5, vae"]
FLUX = NAMED["FLUX.1-dev, transformer"]
REFUSED = {"PixArt-Sigma-XL-2-1024-MS, transformer"}


@pytest.mark.parametrize("place", [place for place, row in enumerate(ROWS) if row["name"] not in REFUSED])
def test_recorded_networks_come_out_exactly(place: int) -> None:
    """Names, shapes, ties, totals and persistent buffers are those that diffusers 0.42.1 stores."""
    row = ROWS[place]
    model = ps.from_config(row["config"])
    counted, everything = model.shapes(), model.shapes(buffers=True)
    assert counted == dict(recorded.parameters(row))
    assert list(counted) == [name for name, _ in recorded.parameters(row)] or not model.certificate["ordered"]  # type: ignore[attr-defined]
    assert model.tied == row["tied"]
    assert model.count == row["n_params"]
    assert {name: shape for name, shape in everything.items() if name not in counted} == recorded.persistent_buffers(row)
    assert model.architecture == row["model_class"]  # type: ignore[attr-defined]
    assert row.get("published_count") in {None, row["n_params"]}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_was_not_verified_is_refused(name: str) -> None:
    """These published configurations have a value that the atlas does not have."""
    with pytest.raises(ConfigError, match="use_additional_conditions is false"):
        ps.from_config(NAMED[name])


def test_the_closed_form_is_in_letters() -> None:
    """The channels of each block are letters; the first convolution has nine entries for each pair of channels."""
    model = ps.from_config(UNET)
    names = {symbol.name for symbol in model.formula.free_symbols}
    assert {"block_out_channels_0", "block_out_channels_3", "C"} <= names
    assert ps.from_config({**UNET, "in_channels": 9}).count - model.count == 5 * 9 * 320
    assert model.certificate["exact"] >= 150  # type: ignore[attr-defined]


def test_one_value_means_equal_entries() -> None:
    """Diffusers spreads a number of heads over the blocks; a list of another length than the blocks is refused."""
    assert ps.from_config({**UNET, "attention_head_dim": [8] * 4}) == ps.from_config(UNET)
    with pytest.raises(ConfigError, match="not verified together"):
        ps.from_config({**UNET, "attention_head_dim": [8] * 3})


def test_a_word_chooses_the_record() -> None:
    """The kinds of T2I-Adapter store different tensors under one length of lists."""
    kinds = {kind: ps.from_config({"_class_name": "T2IAdapter", "adapter_type": kind}) for kind in ("full_adapter", "light_adapter")}
    assert "adapter.conv_in.weight" in kinds["full_adapter"].shapes()
    assert "adapter.conv_in.weight" not in kinds["light_adapter"].shapes()
    assert kinds["full_adapter"] == ps.from_config({"_class_name": "T2IAdapter"})


def test_a_live_configuration_says_what_it_has_by_default() -> None:
    """Diffusers reads neither these keys nor private ones."""
    given = {**FLUX, "num_layers": 7, "_use_default_values": ["num_layers"], "_name_or_path": "x"}
    assert ps.from_config(given).count == ps.from_config(FLUX).count
    assert ps.from_config({**FLUX, "num_layers": 7}).count < ps.from_config(FLUX).count


def test_a_former_class_is_read_as_the_new_one() -> None:
    """A configuration of ``Transformer2DModel`` has keys that today's class does not take, which diffusers leaves out."""
    old = NAMED["DiT-XL-2-256, transformer"]
    assert old["_class_name"] == "Transformer2DModel"
    assert diffusers_type(old) == "diffusers/DiTTransformer2DModel"
    with pytest.warns(ps.ParamsymWarning, match="cross_attention_dim"):
        renamed = ps.from_config({**old, "_class_name": "DiTTransformer2DModel"})
    assert renamed.shapes() == ps.from_config(old).shapes()
    with pytest.raises(ConfigError, match="Transformer2DModel is not in the atlas: diffusers does not build it at its defaults"):
        ps.from_config({**old, "norm_type": "layer_norm"})


def test_a_file_a_directory_and_the_shell(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration is a file; the shell reads it and changes its keys."""
    (tmp_path / "config.json").write_text(json.dumps(VAE))
    assert ps.load(str(tmp_path)).count == 83_653_863
    assert main(["count", str(tmp_path)]) == 0
    assert "83653863" in capsys.readouterr().out
    assert main(["count", str(tmp_path), "--set", "latent_channels=16"]) == 0
    assert "83653863" not in capsys.readouterr().out
    assert architectures_of(VAE) == ("AutoencoderKL",)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"_class_name": "AutoencoderKLL"}, "did you mean AutoencoderKL"),
        ({"_class_name": "../names"}, "no network '../names'"),
        ({"_class_name": ""}, "no network ''"),
        ({"_class_name": "DDIMScheduler"}, "no network 'DDIMScheduler'"),
        ({"_class_name": "MultiControlNetModel"}, "MultiControlNetModel is not in the atlas: it is made from a list of networks"),
        ({"_class_name": "T2IAdapter", "adapter_type": "heavy"}, "of T2IAdapter is 'heavy' (str); verified are 'full_adapter'"),
        ({"_class_name": "T2IAdapter", "adapter_type": ["full_adapter"]}, "of T2IAdapter is ['full_adapter'] (list); verified are"),
        ({"_class_name": "AutoencoderKLWan", "is_residual": 1}, "is_residual is 1"),
        ({**VAE, "block_out_channels": [64] * 9}, "block_out_channels of AutoencoderKL has 9 entries; verified are 1 or 2"),
        ({**VAE, "block_out_channels": 64}, "block_out_channels is 64 (int); wanted a list of"),
        ({**VAE, "block_out_channels": [64, 64, 64, 64.0]}, "block_out_channels_3 is 64.0"),
        ({**VAE, "block_out_channels_0": 64}, "'block_out_channels_0' is not one of diffusers'; write block_out_channels"),
        ({**VAE, "down_block_types": ["AttnDownEncoderBlock2D"] * 4}, "down_block_types_0 is 'AttnDownEncoderBlock2D'"),
        ({**VAE, "quantization_config": {}}, "'quantization_config' is not known"),
        ({**UNET, "conv_in_kernel": 5}, "conv_in_kernel is 5"),
        ({**UNET, "layers_per_block": 0}, "layers_per_block is 0"),
        ({**FLUX, "num_layers": True}, "num_layers is true"),
        ({**FLUX, "axes_dims_rope": [16]}, "axes_dims_rope of FluxTransformer2DModel has 1 entries; verified are 3"),
    ],
)
def test_a_refusal_names_the_key(config: dict[str, Any], said: str) -> None:
    """What was not verified is an error with the key, the value and what was verified."""
    with pytest.raises(ConfigError) as caught:
        ps.from_config(config)
    assert said in str(caught.value)


def test_a_key_of_no_argument_is_left_out() -> None:
    """Diffusers drops it with a warning, which says what it may be a misspelling of; with ``strict`` it is an error."""
    with pytest.warns(ps.ParamsymWarning, match=r"latent_channel \(did you mean latent_channels\?\), scaling"):
        model = ps.from_config({**VAE, "latent_channel": 16, "scaling": 0.1})
    assert model.count == 83_653_863
    with pytest.raises(ConfigError, match="latent_channel"):
        ps.from_config({**VAE, "latent_channel": 16}, strict=True)


@pytest.mark.parametrize("model_type", ["diffusers/AutoencoderKL", "diffusers/AutoencoderKL/9", "diffusers/names", "diffusers/", "../x"])
def test_there_is_no_record_of_another_type(model_type: str) -> None:
    """A path is never made from an unknown name."""
    with pytest.raises(RecordError, match="no record"):
        record_of(model_type)


def test_every_record_is_read_and_every_class_has_recorded_rows() -> None:
    """The index and the files agree, and no class is both there and refused."""
    index = diffusers_index()
    assert not index["classes"].keys() & index["refused"].keys()
    assert {row["model_class"] for row in ROWS} >= index["classes"].keys()
    for name, one in index["classes"].items():
        for label in one["lengths"]:
            record = record_of(f"diffusers/{name}" + (f"/{label}" if label else ""))
            assert list(record["classes"]) == [name]
            assert record["reference"] == index["reference"]
