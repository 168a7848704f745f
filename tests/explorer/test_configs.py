"""A config.json that is dropped on the page is read as the library reads it, or refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from explored import NAMES, sizes_for, total

import paramsym as ps
from paramsym.errors import ParamsymError

READ = """
async (texts) => {
  const found = [];
  for (const text of texts) {
    try {
      const { family, number, sizes, unknown } = await explorer.readConfig(text);
      const model = await explorer.model(family, number, undefined, sizes);
      const answer = explorer.answer(model, { question: 'params', choices: {}, inputs: {} });
      found.push(unknown.length ? `unknown: ${unknown}` : answer.error ?? String(answer.total));
    } catch (error) { found.push(error.message); }
  }
  return found;
}
"""
ODD: list[Any] = [None, True, False, 0, 1, 2, 7, -1, 64, 768.5, 1e-5, "gelu", "relu", "", [], [1, 2], {}, {"rope_type": "yarn"}]
"""Other values for a key."""


def placed(config: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with keys such as ``text_config.hidden_size`` moved into the inner configuration."""
    found: dict[str, Any] = {}
    for name, value in config.items():
        outer, _, inner = name.rpartition(".")
        (found.setdefault(outer, {}) if outer else found)[inner] = value
    return found


def drawn(rng: random.Random, python: str, model_type: str, rules: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration of a variant with random sizes that the library reads, as a flat mapping with dotted keys."""
    model = eval(python, {"ps": ps})
    known = {symbol.name: int(size) for symbol, size in model.sizes.items()}
    for attempt in range(30):
        sizes = sizes_for(rng, model.origin[0], known, {}) if attempt < 29 else known
        config: dict[str, Any] = {"model_type": model_type, "architectures": rules["architectures"][:1]}
        config |= {name: sizes[letter] for name, (letter, *_) in rules["sizes"].items()}
        config |= {name: [sizes[letter] for letter in letters] for name, (letters, *_) in rules["lists"].items()}
        config |= {name: values[0][0] for name, values in rules["fixed"].items() if [] not in values and values}
        config |= {name: [[kinds, sizes[letter] // len(kinds)]] for name, (kinds, letter) in rules["patterns"].items()}
        config |= {"num_labels": sizes["N"]} if "labels" in rules else {}
        try:
            ps.from_config(placed(config), strict=True)
        except ParamsymError:
            continue
        return config
    message = f"{model_type} reads none of its configurations"
    raise AssertionError(message)


def disturbed(rng: random.Random, config: dict[str, Any], rules: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with one to three keys changed, left out or made up."""
    changed = dict(config)
    keys = [*rules["sizes"], *rules["lists"], *rules["fixed"], *rules["free"], *rules["patterns"], "made_up"]
    for key in rng.sample(keys, k=rng.randint(1, 3)):
        changed[key] = rng.choice(ODD)
        if rng.random() < 0.2:
            del changed[key]
    return changed


def test_configurations_are_read_as_the_library_reads_them_or_refused(page: Browser) -> None:
    """Random sizes of every variant that has a configuration, and five disturbed ones of each: never a number that is not the library's."""
    rng = random.Random(2017)
    plain: list[str] = []
    others: list[str] = []
    fields = "({variants}) => variants.map(({configs, python}) => ({configs, python}))"
    for family in NAMES:
        for variant in page.run(f"explorer.load('{family}').then({fields})"):
            for model_type, rules in variant["configs"].items():
                config = drawn(rng, variant["python"], model_type, rules)
                plain.append(json.dumps(placed(config)))
                others += [json.dumps(placed(disturbed(rng, config, rules))) for _ in range(5)]
    assert len(others) > 300
    unread = 0
    for text, shown in zip(plain, page.run(f"({READ})({json.dumps(plain)})"), strict=True):
        model = ps.from_config(json.loads(text), strict=True)
        if not shown.isdecimal():
            unread += 1  # the page asks for sizes that every tab can answer for, and for a key for every letter
        else:
            assert shown == str(model.count), (text, shown)
    assert unread < len(plain) / 5
    counted = 0
    for text, shown in zip(others, page.run(f"({READ})({json.dumps(others)})"), strict=True):
        if shown.isdecimal():
            counted += 1
            try:
                right = str(ps.from_config(json.loads(text), strict=True).count)
            except ParamsymError as error:
                right = str(error)
            assert shown == right, (text, shown)
    assert counted > 20


NEO = '{"model_type": "gpt_neo", "architectures": ["GPTNeoForCausalLM"]'
CLIP = '{"model_type": "clip", "architectures": ["CLIPModel"]'
BAD = {
    "{": "is not JSON",
    "[1, 2]": "wanted one JSON object",
    '{"hidden_size": 768}': "model_type is missing or not a string",
    '{"model_type": "berd"}': "model_type 'berd' is not known. The nearest on this page are bert,",
    '{"model_type": "led"}': "model_type 'led' is not on this page; ps.from_config(\"config.json\") reads it.",
    '{"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "rotary_pct": 0.3}': "no formula for that fraction of a head",
    '{"model_type": "electra", "architectures": ["ElectraModel"], "embedding_size": 64, "hidden_size": 64.5}': "hidden_size is 64.5",
    '{"model_type": "bert", "hidden_size": 768, "hidden_size": 1024}': "the key 'hidden_size' occurs twice",
    '{"model_type": "bert", "hidden_size": 768.0}': "hidden_size is 768; wanted a positive whole number",
    '{"model_type": "bert", "hidden_size": "768"}': 'hidden_size is "768"; wanted a positive whole number',
    '{"model_type": "bert", "num_hidden_layers": -1}': "wanted a whole number, zero or more",
    '{"model_type": "bert", "vocab_size": 99999999999999999999}': "vocab_size is",
    '{"model_type": "bert", "architectures": ["BertForNextSentencePrediction"]}': "is not on this page, which has BertModel,",
    '{"model_type": "bert", "is_decoder": true}': "is_decoder is true; this page has the formula for false",
    '{"model_type": "bert", "layer_norm_eps": "small"}': 'layer_norm_eps is "small"; this page takes positive numbers there',
    NEO + ', "num_layers": 6}': "attention_types is null; this page has the formula for",
    NEO + ', "attention_types": [[["local"], 24]]}': 'attention_types is [[["local"],"24"]]; this page has the formula for',
    CLIP + ', "text_config": [1]}': "text_config is",
    CLIP + ', "text_config": {"hidden_size": 8.5}}': "text_config.hidden_size is 8.5",
    CLIP + ', "text_config": {"hiden_size": 8}}': "clip does not know these config keys: text_config.hiden_size",
    '{"model_type": "bert", "hiden_size": 768}': "bert does not know these config keys: hiden_size",
}


@pytest.mark.parametrize("text", BAD)
def test_bad_configurations_are_refused_by_name(page: Browser, text: str, tmp_path: Path) -> None:
    """The message stands where the file was asked for, and the model that was shown stays."""
    file = tmp_path / "config.json"
    file.write_text(text)
    before = total(page)
    page.choose_file("#file", file)
    page.wait("document.querySelector('#config-said').textContent")
    assert BAD[text] in page.run("document.querySelector('#config-said').textContent")
    assert total(page) == before


def test_a_configuration_is_dropped(page: Browser, tmp_path: Path) -> None:
    """Onto the page, from outside; its sizes are shown, and can be moved."""
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 96, "n_head": 6, "n_layer": 3, "vocab_size": 1000}
    (tmp_path / "config.json").write_text(json.dumps({**config, "n_positions": 64, "activation_function": "gelu_new", "eos_token_id": 0}))
    page.drop("#drop", tmp_path / "config.json")
    page.wait("document.querySelector('#config-said').textContent.includes('is read')")
    assert total(page) == ps.from_config({**config, "n_positions": 64}).count
    assert page.run("document.querySelector('#size-H').value") == "96"


def test_unknown_keys_are_passed_over_only_when_the_reader_says_so(page: Browser, tmp_path: Path) -> None:
    """A button, and the number of the configuration without them."""
    config = {"model_type": "bert", "num_hidden_layers": 3}
    (tmp_path / "config.json").write_text(json.dumps({**config, "made_up": 7}))
    page.choose_file("#file", tmp_path / "config.json")
    page.wait("document.querySelector('#config-said button')")
    page.click("#config-said button")
    page.wait("document.querySelector('#config-said').textContent.includes('is read')")
    assert total(page) == ps.from_config(config).count


NEOX = {"model_type": "gpt_neox", "architectures": ["GPTNeoXForCausalLM"], "hidden_size": 512, "num_attention_heads": 8}
STABLE = {"model_type": "stablelm", "architectures": ["StableLmForCausalLM"], "hidden_size": 320, "num_attention_heads": 8}
READ_BY_LIBRARY: dict[str, dict[str, Any]] = {
    "pythia": {**NEOX, "num_hidden_layers": 3, "intermediate_size": 2048, "rotary_pct": 0.25},
    "half": {**NEOX, "num_hidden_layers": 3, "rotary_pct": 0.5},
    "electra": {
        "model_type": "electra",
        "architectures": ["ElectraModel"],
        "embedding_size": 96,
        "hidden_size": 96,
        "num_attention_heads": 4,
    },
    "clip": {
        "model_type": "clip",
        "architectures": ["CLIPModel"],
        "projection_dim": 96,
        "text_config": {"model_type": "clip_text_model", "hidden_size": 128, "num_attention_heads": 4, "bos_token_id": 0, "dropout": 0.0},
        "text_config_dict": None,
        "vision_config": {"hidden_size": 96, "num_attention_heads": 6, "patch_size": 16, "image_size": 96},
    },
    "clip-overruled": {
        "model_type": "clip",
        "architectures": ["CLIPModel"],
        "vision_config_dict": {"num_hidden_layers": 3},
        "vision_config": {"num_hidden_layers": 5, "hidden_size": 96},
    },
    "siglip": {"model_type": "siglip", "vision_config": {"hidden_size": 96, "num_attention_heads": 6, "model_type": "siglip_vision_model"}},
    "gpt-neo": {
        "model_type": "gpt_neo",
        "architectures": ["GPTNeoForCausalLM"],
        "num_layers": 6,
        "attention_types": [[["global", "local"], 3]],
    },
    "stablelm": {**STABLE, "num_key_value_heads": 8, "partial_rotary_factor": 0.4},
}
"""Configurations with a fraction of a head, with one size under two keys, with inner configurations, and with a list of layers."""


@pytest.mark.parametrize("name", READ_BY_LIBRARY)
def test_sizes_that_follow_from_others_are_read(page: Browser, name: str) -> None:
    """For a letter without a key, the page finds the library's value."""
    config = READ_BY_LIBRARY[name]
    model = ps.from_config(config, strict=True)
    numbers = "({sizes}) => Object.fromEntries(Object.entries(sizes).map(([letter, size]) => [letter, Number(size)]))"
    sizes = page.run(f"explorer.readConfig({json.dumps(json.dumps(config))}).then({numbers})")
    assert sizes == {symbol.name: int(size) for symbol, size in model.origin[1].items()}


def test_the_text_model_of_a_composite_can_be_read_alone(page: Browser, tmp_path: Path) -> None:
    """A button beside the refusal reads the inner model. It names no class, so the page takes the only one that it has."""
    text = {
        "model_type": "llama",
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "vocab_size": 100,
    }
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "no-such-composite", "text_config": text}))
    page.choose_file("#file", tmp_path / "config.json")
    page.wait("document.querySelector('#config-said button')")
    assert "model_type 'no-such-composite' is not known" in page.run("document.querySelector('#config-said').textContent")
    page.click("#config-said button")
    page.wait("document.querySelector('#config-said').textContent.includes('is read')")
    assert total(page) == ps.from_config(text, "LlamaForCausalLM").count
