"""Ten thousand mutated configurations of all families: each gives a model with a whole count, or one error of this library, at once.

The mutations are drawn with a fixed seed; the first thousand run every time, the others with ``TESTS=all``.
"""

from __future__ import annotations

import json
import math
import random
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from amount import cases
from recorded import rows

import paramsym as ps
from paramsym.cli import main
from paramsym.errors import ConfigError, ParamsymWarning
from paramsym.models import family_of, model_types

SEED = 20260101
BATCH = 250
BATCHES = 40
USUALLY = 2  # of the batches, those of the ordinary run
SLOWEST = 10.0  # seconds of the processor for one, however busy the machine is with other things

NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, 10**400, -(10**400), 0.5, 1.0, -0.0, 1e308,
    math.nan, math.inf, -math.inf, True, False,
]  # fmt: skip
WORDS: list[Any] = [
    None, "", "0", "768", "true", "gelu", "relu", "prelu", "silu", "swish", "abacus", "BertModel", "LlamaForCausalLM", "post", "pre",
    "bottleneck",
    "\x00", "\x1b[2J", "\u202e", "\ud800", "\U0001f9ee" * 40, "x" * 5000, "__import__('os')", "{}", "../..", "\uff48\uff49\uff44",
]  # fmt: skip


def deep(depth: int, inner: object = 0, *, lists: bool = True) -> object:
    """Return a nest, as deep as Python's own recursion allows and beyond."""
    for _ in range(depth):
        inner = [inner] if lists else {"a": inner}
    return inner


def bombs() -> list[Any]:
    """Return values made to be expensive."""
    return [
        deep(50), deep(900), deep(5000), deep(900, lists=False), deep(5000, lists=False), list(range(10_000)), [0] * 100_000,
        [[]] * 1000,
        {str(i): i for i in range(5000)}, {"0": {"1": {"2": 3}}}, [None], [[1, 2], [3]], [1, "2", 3.0], [-1, 0], [10**400] * 3, (), [], {},
        {"rope_type": deep(100)}, ["full_attention", "abacus"], ["attention"] * 50_000, [["global", "local"], 10**9],
        [[["global"], 10**18]],
    ]  # fmt: skip


BOMBS = bombs()


def bases() -> list[dict[str, Any]]:
    """Return a configuration of each family that is read, recorded ones where there are some, and the least one of each."""
    found = [{"model_type": model_type} for model_type in model_types()]
    recorded = [row for name in ("hf_random", "hf_checkpoints") for row in rows(name) if row["config"].get("model_type") in model_types()]
    return found + [{**row["config"], "architectures": [row["model_class"]]} for row in recorded]


def one_of_its(draw: random.Random, config: dict[str, Any]) -> str:
    """Return a key: one that the family reads, one that is there, or any."""
    kind = draw.random()
    if kind < 0.6:
        reader = family_of(config["model_type"])
        keys = sorted({*reader.keys, *reader.aliases, "num_labels", "id2label", "architectures", "per_layer_config"})
        return draw.choice(keys)
    if kind < 0.95:
        return draw.choice(sorted(config))
    return str(draw.choice([word for word in WORDS if word is not None]))


def value(draw: random.Random, before: object) -> object:
    """Return something that may stand where ``before`` stood."""
    kind = draw.random()
    if kind < 0.5 and isinstance(before, dict) and before and all(isinstance(key, str) for key in before):
        inner = dict(before)  # a configuration inside a configuration, or the labels
        key = draw.choice(sorted(inner))
        inner[key] = value(draw, inner[key])
        return inner
    if kind < 0.2 and isinstance(before, int) and abs(before) < 10**300:
        return draw.choice(
            [before + 1, before - 1, -before, before * 2, before * 10**9, float(before), str(before), [before], {"a": before}]
        )
    if kind < 0.3 and isinstance(before, list) and before:
        return draw.choice(
            [before[:-1], before + before, before[0], [before], before[:9] * 1000, ["768"] * len(before), [None, *before[1:]]]
        )
    if kind < 0.6:
        return draw.choice(NUMBERS)
    if kind < 0.75:
        return draw.choice(WORDS)
    if kind < 0.8:
        return draw.randint(1, 5000)
    return draw.choice(BOMBS)


def mutated(draw: random.Random, base: dict[str, Any]) -> dict[str, Any]:
    """Return the configuration with a few keys changed, removed or added."""
    config = dict(base)
    for _ in range(draw.choice([1, 1, 1, 2, 3, 6])):
        if not config or "model_type" not in config or config["model_type"] not in list(model_types()):
            return config
        key = one_of_its(draw, config)
        if draw.random() < 0.2:
            config.pop(key, None)
        else:
            config[key] = value(draw, config.get(key))
            if key == "model_type" and draw.random() < 0.8:
                config[key] = draw.choice(model_types())
    return config


def batch(number: int) -> Iterator[dict[str, Any]]:
    """Return one batch; every family comes up in turn."""
    draw = random.Random(SEED + number)
    there = bases()
    least = len(model_types())
    for position in range(BATCH):
        base = there[(number * BATCH + position) % least] if position % 4 else draw.choice(there)
        yield mutated(draw, base)


def outcome(config: dict[str, Any], read: Callable[..., Any] = ps.from_config) -> str:
    """Build one and say what came out; whatever is neither a model nor the one error fails the test."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ParamsymWarning)
        try:
            model = read(config)
        except ConfigError as error:
            words = str(error)
            assert 0 < len(words) < 3000, words[:200]
            assert words.isprintable(), ascii(words[:200])
            result = "refused"
        else:
            assert isinstance(model.count, int)
            assert model.count >= 0
            assert not model.params.free_symbols
            result = "built"
    assert time.process_time() - began < SLOWEST, "it hung"
    return result


@cases(USUALLY)
@pytest.mark.parametrize("number", range(BATCHES))
def test_mutated_configurations(number: int) -> None:
    """A model or one error, at once; and both happen."""
    seen = set()
    for position, config in enumerate(batch(number)):
        try:
            seen.add(outcome(config))
        except Exception as error:
            changed = {key: repr(inner)[:80] for key, inner in list(config.items())[:60]}
            message = f"batch {number}, position {position}: {type(error).__name__}: {str(error)[:300]}\n{changed}"
            raise AssertionError(message) from error
    assert seen == {"built", "refused"}


def written(config: dict[str, Any]) -> str | None:
    """Write a configuration as the file that a stranger would send; None for what no writer of JSON writes."""
    try:
        return json.dumps(config)
    except (RecursionError, ValueError):  # too deep for Python's writer, or more digits than it turns into text
        return None


@cases(0)
@pytest.mark.parametrize("number", range(BATCHES))
def test_on_the_command_line(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same files through the command line: an answer and 0, or one harmless line and 2; the count is the library's."""
    draw = random.Random(SEED + number)
    file, seen = tmp_path / "config.json", set()
    for position, config in enumerate(batch(number)):
        words = written(config)
        if words is None:
            continue
        file.write_text(words, encoding="utf-8")
        command = draw.choice((["count"], ["count", "--strict"], ["formula"], ["table", "--depth", "2"]))
        command = [*command, str(file), "--format", draw.choice(("text", "json", "markdown", "latex", "html"))]
        code = main(command)
        said = capsys.readouterr()
        seen.add(code)
        where = f"batch {number}, position {position}: {command}: {said.err[:300]!r}"
        assert "this is a bug" not in said.err, where
        assert said.err.count("\n") <= 1, where
        assert all(character.isprintable() or character == "\n" for character in said.out + said.err), where
        if code == 0:
            assert said.out, where
        else:
            assert (code, said.out) == (2, ""), where
            assert said.err.startswith(f"paramsym {command[0]}: error: "), where
        if code == 0 and command[0] == "count" and command[-1] == "text":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ParamsymWarning)
                assert int(said.out) == ps.from_config(file).count, where
    assert seen == {0, 2}


def test_every_family_is_tried() -> None:
    """The usual batches reach every family that is read."""
    met = {
        config.get("model_type")
        for number in range(0, BATCHES, BATCHES // USUALLY)
        for config in batch(number)
        if isinstance(config.get("model_type"), str)
    }
    assert set(model_types()) <= met


def nested(depth: int, kind: type) -> Any:
    """Return a list or a dictionary that contains itself-like values to a depth."""
    value: Any = kind()
    for _ in range(depth):
        value = [value] if kind is list else {"inside": value}
    return value


@cases(4)
@pytest.mark.parametrize("model_type", ["bert", "clip", "led", "llava", "t5"])
@pytest.mark.parametrize("depth", [65, 500, 900, 980, 100_000])
@pytest.mark.parametrize("kind", [list, dict])
def test_deep_values_are_refused_at_the_door(model_type: str, depth: int, kind: type) -> None:
    """No reader walks into a value that is nested deeper than any configuration."""
    with pytest.raises(ConfigError, match="nested more than 64 levels deep, or contains itself"):
        ps.from_config({"model_type": model_type, "x": nested(depth, kind)})


@pytest.mark.parametrize("model_type", ["bert", "led"])
def test_cyclic_values_are_refused(model_type: str) -> None:
    """A dictionary that contains itself has no end."""
    config: dict[str, Any] = {"model_type": model_type}
    config["x"] = [config]
    with pytest.raises(ConfigError, match="contains itself"):
        ps.from_config(config)
    twice: Any = []
    for _ in range(60):
        twice = [twice, twice]
    with pytest.raises(ConfigError, match="more than 250,000 entries"):
        ps.from_config({"model_type": model_type, "x": twice})


@pytest.mark.parametrize("model_type", ["bert", "led", "llama"])
def test_many_entries(model_type: str) -> None:
    """Long lists are refused, and many unknown keys are named by the first twelve, each with its nearest known key."""
    with pytest.raises(ConfigError, match="more than 250,000 entries"):
        ps.from_config({"model_type": model_type, "x": [0] * 250_001})
    keys = {f"vocab_siz{n}": n for n in range(1000)}
    with pytest.raises(ConfigError, match=r"vocab_siz0 \(did you mean vocab_size\?\).* \(1000 in all\)"):
        ps.from_config({"model_type": model_type, **keys}, strict=True)


@pytest.mark.parametrize("strict", [False, True])
def test_many_keys_take_little_time(strict: bool) -> None:
    """Unknown keys beyond those that the message names cost next to nothing."""
    config = {"model_type": "led"} | {f"vocab_siz{n}": n for n in range(100_000)}
    began = time.process_time()
    with warnings.catch_warnings(), nullcontext() if not strict else pytest.raises(ConfigError, match=r"\(100000 in all\)"):
        warnings.simplefilter("ignore", ParamsymWarning)
        ps.from_config(config, strict=strict)
    assert time.process_time() - began < 2.0
