"""Short names for tensors: a name means one tensor or part, and no shorter tail of its path does."""

from __future__ import annotations

import re

import pytest

import paramsym as ps
from paramsym.analysis.wording import ShortNames, plain

MODELS = ("bert", "gpt2", "t5", "mixtral", "resnet50", "whisper")
VAGUE = re.compile(r"(\d+|\{.*|weight|bias|kernel)(\.|$)")
"""Names that begin so say nothing about their owner."""


@pytest.mark.parametrize("name", MODELS)
def test_a_short_name_is_the_shortest_that_means_one_thing(name: str) -> None:
    """Compared with all tails of all paths, of tensors and of parts."""
    layer = ps.load(name)
    names = ShortNames(layer.lines)
    paths = {plain(line)[:end] for line in layer.lines for end in range(1, len(plain(line)) + 1)}
    for path in {plain(line) for line in layer.lines}:
        short = names.short(path)
        tails = [".".join(path[start:]) for start in range(len(path))]
        meant = {tail: sum(f".{'.'.join(other)}".endswith(f".{tail}") for other in paths) for tail in tails}
        clear = [tail for tail in tails if meant[tail] == 1 and not VAGUE.match(tail)]
        assert short == min(clear or tails[:1], key=len)
