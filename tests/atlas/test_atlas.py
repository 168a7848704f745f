"""The atlas against what the reference itself stores: recorded configurations come out exactly, or are refused."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import recorded
from amount import ALL

import paramsym as ps
from paramsym.atlas.record import record_of, recorded_types
from paramsym.cli import main
from paramsym.errors import ConfigError, UnknownNameError
from paramsym.models import model_types

TYPES = recorded_types()


def recorded_rows() -> Iterator[Any]:
    """Yield the recorded configurations of the classes in the atlas, complete and as written; in an ordinary run, of every third type."""
    chosen = TYPES if ALL else TYPES[::3]
    for name in ("hf_checkpoints", "hf_defaults"):
        for number, row in enumerate(recorded.rows(name)):
            model_type = row["model_type"]
            if model_type in chosen and model_type not in model_types() and row["model_class"] in record_of(model_type)["classes"]:
                for which in ("config", "config_kwargs") if ALL else ("config",):
                    config = {**row[which], "model_type": model_type}
                    yield pytest.param(row, config, id=f"{name}-{number}-{row['model_class']}-{which}")


def answered(row: dict[str, Any], config: dict[str, Any]) -> Any:
    """Return the model, or the refusal."""
    try:
        return ps.from_config(config, architecture=row["model_class"])
    except ConfigError as error:
        return error


ROWS = list(recorded_rows())


@pytest.mark.parametrize(("row", "config"), ROWS)
def test_recorded_configurations_come_out_exactly(row: dict[str, Any], config: dict[str, Any]) -> None:
    """Names, shapes, ties, buffers and totals are those of the reference, in its order where the record says so; the rest is refused."""
    model = answered(row, config)
    if isinstance(model, ConfigError):
        assert row["model_class"] in str(model)
        return
    shapes = model.shapes()
    assert shapes == dict(recorded.parameters(row))
    if model.certificate["ordered"]:
        assert list(shapes) == [name for name, _ in recorded.parameters(row)]
    assert model.tied == row["tied"]
    assert model.count == row["n_params"]
    assert {name: shape for name, shape in model.shapes(buffers=True).items() if name not in shapes} == recorded.persistent_buffers(row)
    frozen = {entry.name for entry in model.entries() if entry.frozen and not entry.alias_of}
    assert frozen == set(row.get("frozen", frozen))


def test_few_of_them_are_refused() -> None:
    """The test above would pass if everything were refused."""
    refused = sum(isinstance(answered(*case.values), ConfigError) for case in ROWS)
    assert len(ROWS) >= 10
    assert refused * 20 <= len(ROWS)


def test_the_closed_form_is_in_the_letters_of_the_keys() -> None:
    """GPT-1 has 12 H**2 + 13 H a block, as its reference's modules say."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    letters = {symbol.name: symbol for symbol in model.formula.free_symbols}
    h, layers, positions, words = (letters[name] for name in ("n_embd", "n_layer", "n_positions", "vocab_size"))
    assert (model.formula - (12 * h**2 + 13 * h) * layers - h * positions - h * words).expand() == 0
    assert model.tied == {"lm_head.weight": "transformer.tokens_embed.weight"}
    assert model.architecture == "OpenAIGPTLMHeadModel"
    assert model.certificate["exact"] >= 60


def test_sizes_can_be_changed_and_other_structure_is_refused() -> None:
    """A model of the atlas is an ordinary layer; what would store other tensors is said."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    wider = model.at(n_embd=1536, n_layer=24)
    assert wider.count == ps.from_config({"model_type": "openai-gpt", "n_embd": 1536, "n_layer": 24}, "OpenAIGPTLMHeadModel").count
    assert len(wider.shapes()) > len(model.shapes())
    with pytest.raises(UnknownNameError, match="n_embed"):
        model.at(n_embed=3)
    with pytest.raises(ps.ParamsymError):
        model.at(n_embd=-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n_layers_": 3}, "'n_layers_' is not known"),
        ({"vocab_sise": 3}, "did you mean vocab_size"),
        ({"n_embd": "768"}, "n_embd is '768'"),
        ({"n_embd": 768.0}, "n_embd is 768.0"),
        ({"n_embd": True}, "n_embd is true"),
        ({"n_embd": -768}, "n_embd is -768"),
        ({"n_embd": 10**30}, "n_embd is"),
        ({"n_embd": None}, "n_embd"),
        ({"afn": "xielu"}, "afn is 'xielu'"),
        ({"n_head": 7}, "n_head must divide n_embd|n_head is 7"),
        ({"id2label": 3}, "id2label is 3"),
    ],
)
def test_what_was_not_verified_is_refused_by_name(change: dict[str, Any], said: str) -> None:
    """An unknown key, a value beyond those tested, another type: one error that names the key."""
    with pytest.raises(ConfigError, match=said):
        ps.from_config({"model_type": "openai-gpt", **change}, architecture="OpenAIGPTLMHeadModel")


def test_classes_are_chosen_and_refused_by_name() -> None:
    """The first of ``architectures``, else the base; a class without an entry is named."""
    config = {"model_type": "openai-gpt", "architectures": ["OpenAIGPTLMHeadModel"]}
    assert ps.from_config(config).architecture == "OpenAIGPTLMHeadModel"
    with pytest.raises(ConfigError, match="OpenAIGPTNone' is not among those of openai-gpt"):
        ps.from_config(config, architecture="OpenAIGPTNone")


def test_a_family_by_hand_goes_first() -> None:
    """What has a family is read by it."""
    assert type(ps.from_config({"model_type": "bert"})).__name__ == "Bert"


def test_load_reads_the_atlas_too() -> None:
    """``load`` takes the same configurations."""
    assert ps.load({"model_type": "openai-gpt"}, "OpenAIGPTLMHeadModel").count == 116534784


def test_tables_and_letters_work_on_it() -> None:
    """The table, the closed form in LaTeX and the repr are those of any layer."""
    model = ps.from_config({"model_type": "openai-gpt"}, architecture="OpenAIGPTLMHeadModel")
    assert "transformer.h.{0..11}" in str(model.table())
    assert "vocab" in model.origin[0].to_latex()
    assert "OpenAIGPTLMHeadModel" in repr(model)
    with pytest.raises(ps.ParamsymError):
        ps.flops(model, (1, 8))


def test_reading_costs_little() -> None:
    """A configuration of a record that was read before takes 20 ms at most."""
    config = {"model_type": "openai-gpt"}
    times = []
    for width in range(768, 768 + 12 * 24, 24):
        begun = time.process_time()
        ps.from_config({**config, "n_embd": width}, architecture="OpenAIGPTLMHeadModel")
        times.append(time.process_time() - begun)
    assert min(times) < 0.02


def test_a_recorded_type_is_a_name() -> None:
    """What takes the name of a family takes that of a recorded type: in letters from its name, in numbers from its configuration."""
    led = ps.load("led")
    number = ps.from_config({"model_type": "led", "d_model": 512})
    assert led.at({symbol: number.sizes.get(symbol, 512) for symbol in led.symbols}).count == number.count
    with pytest.raises(UnknownNameError, match="did you mean led"):
        ps.load("lde")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["count", "CONFIG"], "182764032"),
        (["count", "CONFIG", "--set", "decoder_layers=0"], "107125248"),
        (["formula", "led", "--set", "decoder_layers=3"], "6*d_model*decoder_ffn_dim"),
        (["formula", "led"], "LEDForConditionalGeneration"),
    ],
)
def test_the_command_line_reads_recorded_types(command: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A configuration takes ``--set`` with its own keys; the counts are those of transformers' own models, built with these sizes."""
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "led", "d_model": 512}), encoding="utf-8")
    assert main([str(tmp_path) if word == "CONFIG" else word for word in command]) == 0
    assert said in capsys.readouterr().out
