"""timm's architectures against what timm stores: recorded models come out exactly; what was not verified is refused by name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import recorded
from amount import cases
from asked import answered
from sympy import floor

import paramsym as ps
from paramsym.atlas.files import record_of, timm_index
from paramsym.atlas.model import Recorded
from paramsym.atlas.record import RecordError, checked, packed_lines
from paramsym.atlas.timm_classes import timm_classes_index
from paramsym.cli import main
from paramsym.config import architectures_of
from paramsym.errors import ConfigError, UnknownNameError

ROWS = [row for row in recorded.rows("cnn") if row["library"].startswith("timm")]
VIT = "vit_base_patch16_224"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['model']}{row['kwargs'] or ''}")
def test_recorded_networks_come_out_exactly(row: dict[str, Any]) -> None:
    """Names, shapes, order, ties, totals and persistent buffers are those that timm 1.0.31 stores."""
    model = ps.from_config({"architecture": row["model"], "model_args": row["kwargs"]})
    counted, everything = model.shapes(), model.shapes(buffers=True)
    assert list(counted.items()) == recorded.parameters(row)
    assert model.tied == row["tied"]
    assert model.count == row["n_params"]
    assert {name: shape for name, shape in everything.items() if name not in counted} == recorded.persistent_buffers(row)
    assert model.architecture == row["model_class"]  # type: ignore[attr-defined]


CHANGED = recorded.rows("timm_arguments")


@pytest.mark.parametrize("row", CHANGED, ids=lambda row: f"{row['model']}{row['kwargs']}")
def test_recorded_arguments_come_out_exactly_or_are_refused(row: dict[str, Any]) -> None:
    """With other widths, depths and flags, the tensors are those that timm 1.0.31 stores; a refusal names one of the arguments."""
    model = answered(lambda: ps.from_config({"architecture": row["model"], "model_args": row["kwargs"]}))
    if isinstance(model, ConfigError):
        assert any(key in str(model) for key in row["kwargs"])
        return
    recorded.assert_reproduces(model, row)
    assert model.architecture == row["model_class"]


@cases(0)
def test_most_recorded_arguments_are_read() -> None:
    """Refused are stages without blocks, a stem that renames tensors, a stride, channels of ResNet, and one rate."""
    models = [answered(lambda row=row: ps.from_config({"architecture": row["model"], "model_args": row["kwargs"]})) for row in CHANGED]
    refused = [row["model"] for row, model in zip(CHANGED, models, strict=True) if isinstance(model, ConfigError)]
    assert len(CHANGED) == 111
    assert len(refused) == 11
    assert not {row["model"] for row in CHANGED[:3]} & set(refused)


def test_each_class_of_the_atlas_is_among_the_recorded_arguments() -> None:
    """No class is read that the test above does not reach."""
    assert {row["model_class"] for row in CHANGED} == timm_classes_index()["classes"].keys()


@pytest.mark.parametrize("name", timm_classes_index()["names"])
def test_the_record_of_a_class_agrees_with_that_of_the_architecture(name: str) -> None:
    """An argument with the value that it has anyway is read by the class, and changes nothing."""
    (of, _, passed, closed), plain = timm_classes_index()["names"][name], ps.load(f"timm/{name}")
    values = {**timm_classes_index()["classes"][of]["defaults"], **passed}
    known = ("embed_dim", "embed_dims", "dims", "patch_size", "layers", "depths", "channels", "num_heads")
    key = next(key for key in known if key in values and key not in closed)
    model = ps.from_config({"architecture": name, "model_args": {key: values[key]}})
    assert model.model_type.count("/") == 2  # type: ignore[attr-defined]
    assert list(model.shapes(buffers=True).items()) == list(plain.shapes(buffers=True).items())
    assert model.tied == plain.tied


def test_widths_are_letters() -> None:
    """ViT with 8 layers of width D: 12 D^2 + 13 D in each, and the positions, the class token, the patches, the head and the last norm."""
    arguments = {"embed_dim": 512, "depth": 8, "num_heads": 8}
    model = ps.from_config({"architecture": VIT, "model_args": arguments})
    assert model.formula.coeff(ps.H, 2) == 12 * ps.L
    assert model.count == 8 * (12 * 512**2 + 13 * 512) + 512 * (197 + 1 + 16 * 16 * 3 + 1 + 2) + 513 * 1000
    assert model.at(H=256).count == ps.from_config({"architecture": VIT, "model_args": {**arguments, "embed_dim": 256}}).count


def test_all_recorded_networks_are_there() -> None:
    """The test above reads a sample; no recorded network is refused."""
    assert len(ROWS) == 245
    assert {row["model"] for row in ROWS} <= timm_index()["modules"].keys()


def test_the_closed_form_is_in_the_letters_of_the_arguments() -> None:
    """ViT-B/16 has a table of a position for each patch and the class token, a convolution of the patches, and a head."""
    model = ps.load(f"timm/{VIT}")
    letters = {symbol.name: symbol for symbol in model.formula.free_symbols}
    height, width, channels, classes = (letters[name] for name in ("img_height", "img_width", "C", "N"))
    blocks = 12 * (12 * 768**2 + 13 * 768)
    rest = 768 * (1 + floor(height / 16) * floor(width / 16)) + 768 + (16 * 16 * channels + 1) * 768 + 2 * 768 + 769 * classes
    assert (model.formula - blocks - rest).expand() == 0
    assert model.certificate["exact"] >= 20  # type: ignore[attr-defined]


def test_a_tag_has_the_arguments_of_its_weights() -> None:
    """ImageNet-21k has 21,843 classes in these weights; DINO has no head; 768 entries and a bias for each class."""
    plain = ps.load(f"timm/{VIT}")
    assert ps.load(f"timm/{VIT}.augreg_in21k").count - plain.count == 769 * (21843 - 1000)
    assert ps.load(f"timm/{VIT}.dino").count == ps.from_config({"architecture": VIT, "num_classes": 0}).count == plain.count - 769 * 1000
    assert ps.load("timm/vit_base_patch16_224_in21k") == ps.load(f"timm/{VIT}.augreg_in21k")  # a former name
    assert ps.load(f"hf-hub:timm/{VIT}.augreg_in21k") == ps.load(f"{VIT}.augreg_in21k")


def test_names_of_families_keep_their_meaning() -> None:
    """Without the prefix, ``resnet50`` is torchvision's, which has timm's tensors; Keras' network has other ones."""
    assert not isinstance(ps.load("resnet50"), Recorded)
    assert isinstance(ps.load("timm/resnet50"), Recorded)
    assert ps.load("timm/resnet50").shapes(buffers=True) == ps.load("resnet50").shapes(buffers=True)


HUB = {
    "architecture": VIT,
    "num_classes": 10,
    "num_features": 768,
    "global_pool": "token",
    "model_args": {"img_size": 384, "in_chans": 1},
    "pretrained_cfg": {"tag": "x", "input_size": [3, 224, 224], "fixed_input_size": True, "num_classes": 1000, "classifier": "head"},
}


def test_a_configuration_of_the_hub() -> None:
    """The arguments of the architecture go first, then the number of classes, then the configuration of the weights."""
    model = ps.from_config(HUB)
    assert model.shapes()["patch_embed.proj.weight"] == (768, 1, 16, 16)
    assert model.shapes()["pos_embed"] == (1, 24 * 24 + 1, 768)
    assert model.shapes()["head.weight"] == (10, 768)
    without = {key: value for key, value in HUB.items() if key not in {"model_args", "num_classes"}}
    assert ps.from_config(without).count == ps.load(f"timm/{VIT}").count
    free = {**without, "pretrained_cfg": {"input_size": [4, 512, 512], "num_classes": 7}}
    assert ps.from_config(free).shapes()["pos_embed"] == (1, 197, 768)  # the sides of the class count if they are not fixed
    assert ps.from_config(free).shapes()["patch_embed.proj.weight"] == (768, 4, 16, 16)
    legacy = {"architecture": VIT, "num_classes": 5, "input_size": [1, 256, 256], "fixed_input_size": True}
    assert ps.from_config(legacy).shapes()["pos_embed"] == (1, 257, 768)
    assert ps.from_config({"architecture": VIT, "model_args": {"img_size": [224, 448], "num_classes": None}}).shapes()["pos_embed"] == (
        1,
        14 * 28 + 1,
        768,
    )


def test_a_pooling_may_add_and_leave_out_tensors() -> None:
    """The average pooling of ViT has its norm behind the pooling; with no classes there is no head."""
    pooled = ps.from_config({"architecture": VIT, "model_args": {"global_pool": "avg"}}).shapes()
    assert "fc_norm.weight" in pooled
    assert "norm.weight" not in pooled
    assert "head.weight" not in ps.from_config({"architecture": VIT, "model_args": {"global_pool": "", "num_classes": 0}}).shapes()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"architecture": "vit_base_patch16_225"}, "did you mean vit_base_patch16_224"),
        ({"architecture": "../names"}, "no architecture '../names'"),
        ({"architecture": ""}, "no architecture ''"),
        ({"num_classes": -1}, "num_classes is -1"),
        ({"num_classes": 10.0}, "num_classes is 10.0"),
        ({"num_classes": "10"}, "num_classes is '10'"),
        ({"num_classes": True}, "num_classes is true"),
        ({"num_classes": None}, "num_classes is null"),
        ({"num_classes": 10**30}, "num_classes is"),
        ({"img_size": 384}, "'img_size' is not one of timm's; an argument of the architecture belongs in model_args"),
        ({"model_args": 3}, "model_args is 3"),
        ({"model_args": {"embed_dims": 512}}, r"'embed_dims' is not known \(did you mean embed_dim\?\)"),
        ({"model_args": {"embed_dim": 512.0}}, "embed_dim is 512.0"),
        ({"model_args": {"embed_dim": 512, "num_heads": 7}}, "num_heads must divide embed_dim"),
        ({"model_args": {"depth": -1}}, "depth is -1"),
        ({"model_args": {"depth": True}}, "depth is true"),
        ({"model_args": {"depth": [2, 2]}}, "these lengths: depth 2; verified are none"),
        ({"model_args": {"patch_size": 16, "norm_layer": "rmsnorm"}}, "'norm_layer' is not known"),
        ({"model_args": {"depth": 4, "img_size": [224]}}, r"img_size is \[224\] .*wanted a list of 2"),
        ({"model_args": {"depth": 4, "img_height": 224}}, "'img_height' is not one of timm's; write img_size"),
        ({"model_args": {"in_chans": 0}}, "in_chans is 0"),
        ({"model_args": {"img_size": -224}}, "img_height is -224"),
        ({"model_args": {"img_size": 224.5}}, "img_height is 224.5"),
        ({"model_args": {"img_size": "224"}}, "img_height is '224'"),
        ({"model_args": {"img_size": [224]}}, "img_size is .*wanted one side, or a list of height and width"),
        ({"model_args": {"img_size": []}}, "wanted one side"),
        ({"model_args": {"img_size": [224, {}]}}, "img_width is"),
        ({"model_args": {"img_height": 224}}, "'img_height' is not one of timm's; write img_size"),
        ({"model_args": {"global_pool": "best"}}, "global_pool is 'best'"),
        ({"model_args": {"drop_rate": 7.0}}, "drop_rate is 7.0"),
        ({"pretrained_cfg": []}, r"pretrained_cfg is \[\]"),
        ({"pretrained_cfg": {"embed_dim": 3}}, "'embed_dim' is not one of timm's in pretrained_cfg"),
        ({"pretrained_cfg": {"input_size": 224}}, "input_size is 224"),
        ({"pretrained_cfg": {"fixed_input_size": "yes"}}, "fixed_input_size is 'yes'"),
    ],
)
def test_what_was_not_verified_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    """An unknown name or argument, a float, a string, a negative size: one error of this library."""
    with pytest.raises(ConfigError, match=said):
        ps.from_config({"architecture": VIT, **change})


@pytest.mark.parametrize(
    ("name", "key"), [("efficientnet_b0", "channel_multiplier"), ("mixer_b16_224", "num_blocks"), ("regnety_040", "depth")]
)
def test_an_argument_of_a_class_without_laws_is_refused(name: str, key: str) -> None:
    """The error names the argument and those that are read."""
    with pytest.raises(ConfigError, match=f"no laws of '{key}' were found; of this architecture, the arguments .*in_chans.* are read"):
        ps.from_config({"architecture": name, "model_args": {key: 2}})


def test_architectures_without_sides_and_of_squares() -> None:
    """A convolutional network takes no sides; some take squares only, or multiples of a number."""
    with pytest.raises(ConfigError, match="'img_size' is not known"):
        ps.from_config({"architecture": "resnet50", "model_args": {"img_size": 224}})
    assert ps.from_config({"architecture": "nest_tiny", "model_args": {"img_size": [448, 448]}}).count
    with pytest.raises(ConfigError, match="wanted multiples of 16 from 32"):
        ps.from_config({"architecture": "nest_tiny", "model_args": {"img_size": [224, 448]}})
    with pytest.raises(ConfigError, match="img_size is 230"):
        ps.from_config({"architecture": "nest_tiny", "model_args": {"img_size": 230}})


def test_names_that_timm_does_not_have() -> None:
    """The nearest names, and the tags of an architecture."""
    with pytest.raises(UnknownNameError, match="did you mean vit_base_patch16_224"):
        ps.load("timm/vit_base_patch16_242")
    with pytest.raises(UnknownNameError, match=r"no tag 'augreg_in22k'.*it has .*augreg_in21k"):
        ps.load(f"timm/{VIT}.augreg_in22k")
    with pytest.raises(UnknownNameError, match=r"did you mean .*vit_base_patch16_224"):
        ps.load("vit_base_patch16_242")
    with pytest.raises(ConfigError, match="architecture 'Vit' is not among"):
        ps.load(f"timm/{VIT}", "Vit")
    assert ps.load(f"timm/{VIT}", "VisionTransformer").count


def test_refused_names_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    """An architecture of timm without a record gives the reason."""
    index = {**timm_index(), "refused": {"odd_net": "its sizes follow no law"}}
    monkeypatch.setattr("paramsym.atlas.timm.timm_index", lambda: index)
    with pytest.raises(UnknownNameError, match="odd_net is not in the atlas: its sizes follow no law"):
        ps.load("timm/odd_net")


def test_a_tag_that_changes_the_architecture_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name, and in a configuration of its weights."""
    record = {**record_of(f"timm/{VIT}"), "defaults": {"": [1000, 3, [224, 224]], "odd": None}}
    monkeypatch.setattr("paramsym.atlas.timm.record_of", lambda _: record)
    with pytest.raises(UnknownNameError, match="no tag 'odd' with known arguments; it has none"):
        ps.load(f"timm/{VIT}.odd")
    with pytest.raises(ConfigError, match="the tag 'odd' changes the architecture"):
        ps.from_config({"architecture": VIT, "pretrained_cfg": {**HUB["pretrained_cfg"], "tag": "odd"}})  # type: ignore[dict-item]


def test_sizes_can_be_changed_and_other_structure_is_refused() -> None:
    """A network of timm is an ordinary layer."""
    model = ps.load(f"timm/{VIT}")
    assert model.at(N=10, img_height=384, img_width=384).count == (
        ps.from_config({"architecture": VIT, "num_classes": 10, "model_args": {"img_size": 384}}).count
    )
    with pytest.raises(ps.ParamsymError, match="stores other tensors"):
        model.at(N=0)
    assert "blocks.{0..11}" in str(model.table())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["count", f"timm/{VIT}"], "86567656"),
        (["count", f"timm/{VIT}", "--set", "num_classes=0"], "85798656"),
        (["count", "CONFIG", "--set", "img_size=224", "--set", "in_chans=3", "--set", "num_classes=1000"], "86567656"),
    ],
)
def test_the_command_line_reads_timm(command: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``--set`` takes the arguments of the architecture; the counts are those that timm's own model cards round."""
    (tmp_path / "config.json").write_text(json.dumps(HUB), encoding="utf-8")
    assert main([str(tmp_path) if word == "CONFIG" else word for word in command]) == 0
    assert said in capsys.readouterr().out


def test_a_checkpoint_is_checked(tmp_path: Path) -> None:
    """A file with a tensor of another shape does not agree with its configuration."""
    pytest.importorskip("numpy")
    files = pytest.importorskip("safetensors.numpy")
    from numpy import zeros

    config = {"architecture": "resnet18", "num_classes": 3}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    shapes = ps.from_config(config).shapes(buffers=True)
    files.save_file({name: zeros(shape, "float16") for name, shape in shapes.items()}, tmp_path / "model.safetensors")
    assert ps.check(tmp_path).ok
    files.save_file({name: zeros(shape, "float16") for name, shape in {**shapes, "fc.bias": (4,)}.items()}, tmp_path / "model.safetensors")
    assert not ps.check(tmp_path).ok


def test_damaged_records_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Defaults without sides, and an index without names."""
    record = json.loads(json.dumps(record_of(f"timm/{VIT}")))
    assert checked(json.dumps(record).encode())["type"] == f"timm/{VIT}"
    record["defaults"][""] = [1000, 3, [224]]
    with pytest.raises(RecordError):
        checked(json.dumps(record).encode())
    sound: dict[str, Any] = {"modules": {}, "aliases": {}, "refused": {}}
    for damaged in ({}, {**sound, "modules": []}, {**sound, "refused": []}, {**sound, "modules": {"x": 3}}):
        timm_index.cache_clear()
        monkeypatch.setattr("paramsym.atlas.files.unpacked", lambda _, damaged=damaged: packed_text(damaged))
        with pytest.raises(RecordError):
            timm_index()
    timm_index.cache_clear()


def test_a_damaged_index_of_classes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """An index without classes, and an architecture of an unknown style."""
    known = {"classes": {"Net": {"defaults": {}, "spread": [], "styles": {}}}, "refused": {}}
    for damaged in ({}, {**known, "names": {"net": ["Net", "0", {}, []]}}):
        timm_classes_index.cache_clear()
        monkeypatch.setattr("paramsym.atlas.files.unpacked", lambda _, damaged=damaged: packed_text(damaged))
        with pytest.raises(RecordError):
            timm_classes_index()
    timm_classes_index.cache_clear()


@pytest.mark.parametrize(
    ("arguments", "positions"),
    [({}, 577), ({"dynamic_img_size": True}, 197), ({"dynamic_img_size": False}, 577), ({"dynamic_img_size": True, "img_size": 384}, 577)],
)
def test_networks_for_any_size_do_not_take_the_sides_of_their_weights(arguments: dict[str, object], positions: int) -> None:
    """As timm reads config.json: with ``dynamic_img_size``, the sides are those of the class, 224, unless an argument states them."""
    cfg = {"num_classes": 1000, "input_size": [3, 384, 384], "fixed_input_size": True}
    config = {"architecture": "vit_base_patch16_384", "pretrained_cfg": cfg, "model_args": arguments}
    assert ps.from_config(config).shapes()["pos_embed"] == (1, positions, 768)
    wrapped = {"model_type": "timm_wrapper", "architecture": "vit_base_patch16_384", "model_args": arguments, "num_classes": 1000}
    assert ps.from_config(wrapped).shapes()["timm_model.pos_embed"] == (1, 577, 768)  # transformers calls timm's function by its name


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (VIT, {"act_layer": "quick_gelu", "attn_drop_rate": 0.1, "dynamic_img_size": True}),
        ("resnet50", {"output_stride": 16, "zero_init_last": False, "drop_block_rate": 0.05}),
        ("efficientnet_b0", {"act_layer": "relu", "drop_path_rate": 0.2}),
        ("regnety_032", {"zero_init_last": False, "act_layer": "gelu"}),
        ("ghostnet_100", {"drop_rate": 0.2}),
    ],
)
def test_arguments_that_change_no_tensor(name: str, arguments: dict[str, object]) -> None:
    """Rates, strides, activations without weights and the like: timm's state dicts are those without them."""
    model = ps.from_config({"architecture": name, "model_args": arguments})
    assert model.model_type == f"timm/{name}"  # type: ignore[attr-defined]
    assert model.shapes(buffers=True) == ps.load(f"timm/{name}").shapes(buffers=True)


@pytest.mark.parametrize("arguments", [{"act_layer": "prelu"}, {"output_stride": 4}, {"drop_path_rate": 1.0}, {"zero_init_last": 1}])
def test_values_of_such_arguments_that_were_not_tried(arguments: dict[str, object]) -> None:
    """An activation with weights changes tensors; other strides, rates and numbers in place of flags were not tried."""
    with pytest.raises(ConfigError, match=next(iter(arguments))):
        ps.from_config({"architecture": "resnet50", "model_args": arguments})


def packed_text(what: Any) -> bytes:
    """Return the text of a file as it is unpacked."""
    import gzip

    return gzip.decompress(packed_lines([what]))


def test_transformers_classes_around_a_network() -> None:
    """Their names begin with ``timm_model``; the class without a head asks timm for 0 classes, and so drops the last layer."""
    row = next(row for row in ROWS if row["model"] == "resnet18")
    inside = {f"timm_model.{name}": shape for name, shape in recorded.parameters(row)}
    config = {"model_type": "timm_wrapper", "architecture": "resnet18", "num_classes": 1000, "do_pooling": True}
    assert ps.from_config(config, architecture="TimmWrapperForImageClassification").shapes() == inside
    backbone = {name: shape for name, shape in inside.items() if not name.startswith("timm_model.fc.")}
    assert ps.from_config(config).shapes() == backbone
    resnet50 = ps.from_config({"model_type": "timm_wrapper"})  # the default; its count is that of the recorded class
    assert (resnet50.count, str(resnet50.formula)) == (23508032, "3136*C + 23498624")
    assert ps.from_config({"model_type": "gemma3n_vision", "hidden_size": 2048}).count == 294126912
    assert architectures_of(config) == ("TimmWrapperModel", "TimmWrapperForImageClassification")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("architectures", ["ResNet"], "architecture 'ResNet' is not among those of timm_wrapper, which are TimmWrapperModel"),
        ("architecture", 5, "architecture is 5"),
        ("architecture", "resnet5", "has no architecture 'resnet5'; did you mean"),
        ("label_names", ["a", "b"], "give 1000 and 2; wanted one number of classes"),
        ("num_classes", None, "give nothing; wanted one number of classes"),
        ("num_classes", 0, "num_classes is 0"),
        ("depth", 3, "the key 'depth' is not one of timm's; an argument of the architecture belongs in model_args"),
        ("model_args", {"num_classes": 3}, "num_classes is in model_args"),
        ("model_args", 3, "model_args is 3"),
    ],
)
def test_what_the_classes_around_a_network_refuse(key: str, value: object, message: str) -> None:
    """Classes that differ or are missing, keys that reach no network, names that timm does not have."""
    config = {"model_type": "timm_wrapper", "architecture": "resnet50", "num_classes": 1000}
    listed = {"architectures": ["TimmWrapperForImageClassification"]}
    with pytest.raises(ConfigError, match=re.escape(message)):
        ps.from_config({**config, **listed, key: value})


WRAPPED = [row for row in recorded.rows("hf_defaults") if row["model_type"] in {"timm_wrapper", "gemma3n_vision"}]


@pytest.mark.parametrize("row", WRAPPED, ids=lambda row: f"{row['model_type']}-{row['model_class']}")
def test_recorded_classes_around_a_network_come_out_exactly(row: dict[str, Any]) -> None:
    """Names, shapes, order, totals and persistent buffers are those that transformers 5.23 stores."""
    assert len(WRAPPED) == 3
    model = ps.from_config({**row["config"], "architectures": [row["model_class"]]})
    shapes = model.shapes()
    assert list(shapes.items()) == recorded.parameters(row)
    assert model.count == row["n_params"]
    assert {name: shape for name, shape in model.shapes(buffers=True).items() if name not in shapes} == recorded.persistent_buffers(row)
