"""One door for names, paths and configurations: what a published name means, in Python and in the shell, and what a wrong one says."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from amount import cases

import paramsym as ps
from paramsym.cli import main
from paramsym.errors import ArgumentError, ConfigError, ParamsymError, StructureError, UnknownNameError
from paramsym.loading import published

NAMES = list(published())
MODELS = Path(ps.models.__file__).parent
SIZES_OF_CLASSES = {"1998", "oneill", "base", "big"}  # names of sizes that only a class knows, or that leave a letter


@pytest.mark.parametrize(
    ("name", "architecture", "count"),
    [
        # Counts of the published checkpoints; their sources stand beside the claims of each family.
        ("bert-base-uncased", "BertModel", 109_482_240),
        ("gpt2", "GPT2LMHeadModel", 124_439_808),
        ("meta-llama/Meta-Llama-3-8B", "LlamaForCausalLM", 8_030_261_248),
        ("meta-llama/Llama-3.2-1B", "LlamaForCausalLM", 1_235_814_400),
        ("Qwen/Qwen2.5-7B", "Qwen2ForCausalLM", 7_615_616_512),
        ("Qwen/Qwen3-0.6B", "Qwen3ForCausalLM", 596_049_920),
        ("mistralai/Mixtral-8x7B-v0.1", "MixtralForCausalLM", 46_702_792_704),
        ("roberta-large", "RobertaModel", 355_359_744),
        ("facebook/deit-base-distilled-patch16-224", "DeiTForImageClassificationWithTeacher", 87_338_192),
        ("google/mt5-xxl", "MT5ForConditionalGeneration", 11_896_598_528),
    ],
)
def test_a_published_name_means_the_class_that_was_published(name: str, architecture: str, count: int) -> None:
    """With its organisation and without, in any capitals."""
    for typed in (name, name.rpartition("/")[2], name.upper()):
        model = ps.load(typed)
        assert (model.count, model.architecture) == (count, architecture)  # type: ignore[attr-defined]
        assert str(model.table()).startswith(f"{architecture}: {count:,} parameters\n")


@cases(6)
@pytest.mark.parametrize("file", sorted(MODELS.rglob("*.csv")), ids=lambda file: file.relative_to(MODELS).as_posix())
def test_a_name_loads_the_class_of_its_row(file: Path) -> None:
    """The first row with a reference class and an exact count says what a name means, with its labels and heads."""
    with file.open(encoding="utf-8", newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if row["class"].isidentifier() and row["name"] not in SIZES_OF_CLASSES]
    for row in {row["name"]: row for row in reversed(rows)}.values():
        model = ps.load(row["name"])
        assert getattr(model, "architecture", row["class"]) == row["class"], row["name"]
        assert model.count + int(row.get("besides") or 0) == int(row["count"]), row["name"]


@pytest.mark.parametrize(("name", "model"), NAMES, ids=[name for name, _ in NAMES])
def test_no_name_has_two_counts(name: str, model: type[ps.Layer], capsys: pytest.CaptureFixture[str]) -> None:
    """``at`` on the family's own class counts what ``load`` and the shell count, or refuses and names ``load``."""
    loaded = ps.load(name)
    try:
        assert model().at(name).params == loaded.params
    except StructureError as error:
        assert any(words in str(error) for words in ("ps.load(", "build it with", "build the layer with them"))  # noqa: PT017
    if not loaded.params.free_symbols:
        assert main(["count", name]) == 0
        assert capsys.readouterr().out == f"{loaded.count}\n"


def test_a_published_model_with_models_inside_is_in_letters() -> None:
    """The sizes of CLIP's towers can be changed; 37,828 words fewer are 37,828 rows of 512 fewer."""
    clip = ps.load("openai/clip-vit-base-patch32")
    assert clip.formula == ps.models.Clip().params
    assert clip.count == 151_277_313  # the checkpoint's numbers
    assert clip.at(V=49408 - 37828).count == 151_277_313 - 37_828 * 512
    assert ps.load("laion/CLIP-ViT-H-14-laion2B-s32B-b79K").text_config.hidden_act == "gelu"  # type: ignore[attr-defined]


def test_another_class_is_refused_and_the_way_is_named() -> None:
    """A default class that stores something else would pass for the published model; one that was asked for is the user's choice."""
    with pytest.raises(StructureError, match=r"was published as LlamaForCausalLM, and this layer is LlamaModel.*ps\.load\("):
        ps.models.Llama().at("meta-llama/Meta-Llama-3-8B")
    assert ps.load("meta-llama/Meta-Llama-3-8B", "LlamaModel").count == 8_030_261_248 - 128_256 * 4096
    masked = ps.models.Bert(architecture="BertForMaskedLM").at("bert-base-uncased")
    assert masked.count == 109_514_298  # transformers 5.23, built
    assert ps.models.Gpt2().at("gpt2").count == 124_439_808  # the head is tied: both classes store the same
    assert ps.models.Llama().freeze("norm").table().caption.startswith("Edited: ")
    with pytest.raises(StructureError, match="was published as LlamaForCausalLM"):
        ps.models.Llama().freeze("norm").at("meta-llama/Meta-Llama-3-8B")
    assert ps.Tied(ps.models.Bert(), {}).at("bert-base-uncased").count == 109_482_240
    with pytest.raises(StructureError, match="was published as LlamaForCausalLM"):
        ps.Tied(ps.models.Llama(), {}).at("meta-llama/Meta-Llama-3-8B")


def test_every_way_in(tmp_path: Path) -> None:
    """A dictionary, a file, a directory, a family; what ``from_config`` gives."""
    config = {"model_type": "bert", "hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(config), encoding="utf-8")
    for source in (config, file, str(file), tmp_path, str(tmp_path)):
        assert ps.load(source) == ps.from_config(config)
    assert ps.load(config, "BertForMaskedLM") == ps.from_config(config, "BertForMaskedLM")
    assert ps.load("bert") == ps.load("Bert")
    assert ps.load("bert").shapes() == ps.models.Bert().shapes()
    assert ps.load("resnet18").count == 11_689_512  # torchvision's own meta data
    assert str(ps.load("meta-llama/Meta-Llama-3-8B").formula) == str(ps.models.Llama(architecture="LlamaForCausalLM").params)


def test_an_unknown_name_leads_on() -> None:
    """The nearest names and three ways on, never the list of everything."""
    with pytest.raises(UnknownNameError, match=r"config.json.*did you mean bert-base-uncased or .*`paramsym families`.*ps.Block") as caught:
        ps.load("bert-base-uncase")
    assert len(str(caught.value)) < 400
    for typed, meant in (("GPT-2", "gpt2"), ("BERT base", "bert-base-uncased"), ("llama3 8b", "meta-llama/Meta-Llama-3-8B")):
        with pytest.raises(UnknownNameError, match=f"did you mean {meant}[ ?]"):
            ps.load(typed)
    with pytest.raises(ArgumentError, match=r"layer is 'gpt2' \(str\); .* ps.load takes the name of a model\."):
        ps.flops("gpt2")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="there is no file or directory"):
        ps.load("nothing/here.json")
    for wrong in (7, None, b"bert"):
        with pytest.raises(ParamsymError, match="a configuration is a dictionary or a path"):
            ps.load(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("read", [ps.load, ps.from_config, ps.check, lambda path: ps.match(ps.Dense(2, 3), path)])
def test_an_empty_path_is_not_the_current_directory(read: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``""`` would be ``"."`` as a path; the error says how to write it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "bert"}', encoding="utf-8")
    assert ps.load(".") == ps.from_config({"model_type": "bert"})
    with pytest.raises(ParamsymError, match=r"the path is empty; write '\.' for the current directory"):
        read("")


@pytest.mark.parametrize(
    ("name", "count", "said"),
    [
        ("gpt3-125m", 125_226_240, 125e6),
        ("gpt3-350m", 355_871_744, 350e6),
        ("gpt3-760m", 760_300_032, 760e6),
        ("gpt3-1.3b", 1_315_723_264, 1.3e9),
        ("gpt3-2.7b", 2_651_553_280, 2.7e9),
        ("gpt3-6.7b", 6_658_404_352, 6.7e9),
        ("gpt3-13b", 12_853_386_240, 13e9),
        ("gpt3-175b", 174_604_259_328, 175e9),
        ("bloom-176b", 176_247_271_424, 176e9),
        ("llama-30b", 32_528_943_616, 32.5e9),
        ("pythia-70m", 18_915_328 + 2 * 50304 * 512, 70e6),
        ("pythia-410m", 302_311_424 + 2 * 50304 * 1024, 410e6),
        ("pythia-1b", 805_736_448 + 2 * 50304 * 2048, 1e9),
        ("pythia-12b", 11_327_027_200 + 2 * 50688 * 5120, 12e9),
        ("palm-8b", 32 * (4096 * (2 * 16 * 256 + 2 * 256 + 3 * 16384) + 4096) + 256_001 * 4096, 8.63e9),
        ("palm-62b", 64 * (8192 * (2 * 32 * 256 + 2 * 256 + 3 * 32768) + 8192) + 256_001 * 8192, 62.5e9),
        ("palm-540b", 118 * (18432 * (2 * 48 * 256 + 2 * 256 + 3 * 73728) + 18432) + 256_001 * 18432, 540.35e9),
    ],
)
def test_names_that_lectures_use(name: str, count: int, said: float) -> None:
    """Counts of transformers 5.23 for GPT-3's table 2.1, Pythia's without both tables from its model cards; names round them.

    PaLM's are computed from its sections 2 and 3: heads of 256, one key and one value for all, three matrices of 4H, tied tables.
    """
    assert ps.load(name).count == count
    assert abs(count - said) <= 0.02 * said
