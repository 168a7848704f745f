"""Configurations with random sizes and flags of every family, through ``from_config``, against the live classes of transformers."""

from __future__ import annotations

import os
import random
import warnings
from typing import Any

import pytest
from frameworks import imported, on_meta, only_with
from oracles.decoder_configs import DECODERS
from oracles.encoder_configs import ACTIVATIONS, ENCODERS
from oracles.flags import redrawn
from recorded import assert_reproduces

import paramsym as ps
from paramsym.atlas.published import RECORDED_TYPES
from paramsym.errors import ConfigError, ParamsymWarning
from paramsym.models import family_of, model_types
from paramsym.models.activations import NAMES

only_with("torch", "transformers")


def bert(draw: random.Random) -> dict[str, Any]:
    """A small random BERT configuration; some keys are left to their defaults."""
    heads = draw.randint(1, 4)
    decoder = draw.random() < 0.5
    return {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": heads * draw.randint(1, 6),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": heads,
        "intermediate_size": draw.randint(1, 40),
        "max_position_embeddings": draw.randint(1, 40),
        "type_vocab_size": draw.randint(1, 4),
        "hidden_act": draw.choice(ACTIVATIONS),
        "is_decoder": decoder,
        "add_cross_attention": decoder and draw.random() < 0.5,
        "tie_word_embeddings": draw.random() < 0.7,
        "pad_token_id": None,
    } | draw.choice(({}, {"num_labels": draw.randint(1, 9)}, {"id2label": {str(i): "x" for i in range(draw.randint(1, 9))}}))


def gpt2(draw: random.Random) -> dict[str, Any]:
    """A small random GPT-2 configuration, sometimes in the common spelling of its keys."""
    heads = draw.randint(1, 4)
    sizes = {"n_embd": heads * draw.randint(1, 6), "n_head": heads, "n_layer": draw.randint(0, 3), "n_positions": draw.randint(1, 40)}
    if draw.random() < 0.3:
        names = {"n_embd": "hidden_size", "n_head": "num_attention_heads", "n_layer": "num_hidden_layers"}
        sizes = {names.get(key, key): value for key, value in sizes.items()}
    return {
        **sizes,
        "vocab_size": draw.randint(2, 90),
        "n_inner": draw.choice((None, draw.randint(1, 40))),
        "activation_function": draw.choice(ACTIVATIONS),
        "summary_type": draw.choice(("last", "first", "mean", "cls_index")),
        "summary_use_proj": draw.random() < 0.8,
        "summary_activation": draw.choice((None, "tanh", "prelu")),
        "summary_proj_to_labels": draw.random() < 0.5,
        "add_cross_attention": draw.random() < 0.4,
        "tie_word_embeddings": draw.random() < 0.7,
        "num_labels": draw.randint(1, 9),
        "bos_token_id": None,
        "eos_token_id": None,
    }


def vit(draw: random.Random) -> dict[str, Any]:
    """A small random ViT configuration, sizes that do not divide included."""
    patch = draw.choice((4, 7, [4, 6]))
    config = {
        "image_size": draw.choice((28, 29, 40, [29, 36])),
        "patch_size": patch,
        "num_channels": draw.randint(1, 4),
        "hidden_size": draw.randint(4, 20),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": draw.randint(1, 4),
        "intermediate_size": draw.randint(1, 40),
        "hidden_act": draw.choice(ACTIVATIONS),
        "pooler_act": draw.choice(("tanh", "prelu")),
        "qkv_bias": draw.random() < 0.5,
        "encoder_stride": draw.randint(1, 5),
        "pooler_output_size": draw.choice((None, 0, draw.randint(1, 30))),
        "num_labels": draw.randint(0, 5),
    }
    return config | draw.choice(({}, {"head_dim": draw.randint(1, 9)}))


def recorded_row(module: Any) -> dict[str, Any]:
    """Write a live module down as the recorded rows are."""
    distinct = dict(module.named_parameters())
    first = {id(parameter): name for name, parameter in distinct.items()}
    everything = module.named_parameters(remove_duplicate=False)
    stored = set(module.state_dict())
    return {
        "params": [[name, list(parameter.shape)] for name, parameter in distinct.items()],
        "tied": {name: first[id(parameter)] for name, parameter in everything if name not in distinct},
        "n_params": sum(parameter.numel() for parameter in distinct.values()),
        "buffers": [[name, list(buffer.shape), "", name in stored] for name, buffer in module.named_buffers()],
        "n_buffer_elems": sum(buffer.numel() for buffer in module.buffers()),
    }


CONFIGURATIONS = {"bert": (bert, "BertConfig"), "gpt2": (gpt2, "GPT2Config"), "vit": (vit, "ViTConfig"), **ENCODERS, **DECODERS}
LIVE = [
    (family, configure, config_class, architecture)
    for family, (configure, config_class) in CONFIGURATIONS.items()
    for architecture in family_of(family).architectures
]


def live(config_class: str, architecture: str, config: dict[str, Any]) -> tuple[Any, Any]:
    """Build the live configuration and model, without allocating weights."""
    transformers = imported("transformers")
    transformers.logging.set_verbosity_error()
    built = getattr(transformers, config_class)(**config)
    return built, on_meta(lambda: getattr(transformers, architecture)(built))


@pytest.mark.parametrize(("family", "configure", "config_class", "architecture"), LIVE, ids=[case[-1] for case in LIVE])
def test_live(family: str, configure: Any, config_class: str, architecture: str) -> None:
    """Random configurations, flags and learned activations included, give what the live class stores, tensor by tensor."""
    for seed in range(12):
        config = configure(random.Random(f"{architecture}{seed}"))
        _, module = live(config_class, architecture, config)
        row = recorded_row(module)
        model = ps.from_config({"model_type": family, **config}, architecture=architecture, strict=True)
        assert_reproduces(model, row, unsaved=family not in RECORDED_TYPES)
        assert list(model.shapes(buffers=True)) == [name for name in module.state_dict() if name not in row["tied"]]
        assert model.formula.xreplace(model.sizes).doit() == row["n_params"]
        assert model.trainable == sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


@pytest.mark.parametrize(("family", "configure", "config_class", "architecture"), LIVE, ids=[case[-1] for case in LIVE])
def test_saved_and_read_back(family: str, configure: Any, config_class: str, architecture: str, tmp_path: Any) -> None:
    """A configuration that transformers itself saves is read without a warning, and gives what the class stores."""
    _, module = live(config_class, architecture, configure(random.Random(architecture)))
    module.config.architectures = [architecture]  # the class may have changed what it was given
    module.config.save_pretrained(tmp_path)
    model = ps.from_config(tmp_path, strict=True)
    assert model.count == sum(parameter.numel() for parameter in module.parameters())
    assert type(model) is family_of(family).model


@pytest.mark.parametrize("family", CONFIGURATIONS)
def test_every_flag(family: str) -> None:
    """Whatever key of the configuration class is redrawn: what both build is the same, and what is refused is one error.

    ``EVERY_FLAG=1000`` draws as many configurations of each family.
    """
    transformers = imported("transformers")
    transformers.logging.set_verbosity_error()
    configure, config_class = CONFIGURATIONS[family]
    reference, same, tries = getattr(transformers, config_class), 0, int(os.environ.get("EVERY_FLAG", "24"))
    for seed in range(tries):
        draw = random.Random(f"{family}{seed}")
        config, architecture = redrawn(draw, configure(draw), reference), draw.choice(family_of(family).architectures)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", ParamsymWarning)
            try:
                model = ps.from_config({"model_type": family, **config}, architecture=architecture)
            except ConfigError:
                continue
        try:
            module = on_meta(lambda: getattr(transformers, architecture)(reference(**config)))  # noqa: B023 - called at once
        except Exception:  # noqa: BLE001, S112 - the reference has its own ways to refuse
            continue
        if any(issubclass(one.category, ParamsymWarning) for one in said):
            continue  # a key is not known, and it is said so
        row, where = recorded_row(module), f"{architecture}: {config}"
        assert [[name, list(shape)] for name, shape in model.shapes().items()] == row["params"], where
        assert (dict(model.tied), model.count) == (row["tied"], row["n_params"]), where
        assert model.formula.xreplace(model.sizes).doit() == row["n_params"], where
        same += 1
    assert same >= tries // 4, f"of {tries} configurations only {same} could be compared"


def test_every_class_is_read() -> None:
    """Every class that the reference's own tables give to a model type that is read."""
    auto = imported("transformers.models.auto.modeling_auto")
    transformers = imported("transformers")
    for model_type in model_types():
        config_class = type(transformers.AutoConfig.for_model(model_type))
        named = {name for table in dir(auto) if table.endswith("_MAPPING_NAMES") for name in _listed(getattr(auto, table).get(model_type))}
        own = {name for name in named if getattr(getattr(transformers, name), "config_class", None) is config_class}
        assert own <= set(family_of(model_type).architectures), model_type


def _listed(names: Any) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def test_activations() -> None:
    """The reference knows the activations that we know, and no others."""
    table = imported("transformers.activations").ACT2CLS
    assert set(table) == NAMES
