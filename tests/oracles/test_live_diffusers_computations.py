"""What diffusers' classes compute, beside the live networks: torch's counter at fresh sizes, and kept bytes of small networks."""

from __future__ import annotations

import json

import pytest
from amount import sample
from oracles.test_diffusers import diffusers
from oracles.test_live_atlas import printed_by

from paramsym.atlas.computing import path_of
from paramsym.atlas.diffusers import computed_by_diffusers
from paramsym.atlas.record import plain, unpacked

_AT_ONCE = 12
"""The number of forms that are compared in one process."""


def forms() -> list[str]:
    """Return the name and the place of each form."""
    files = {name: plain(unpacked(path_of(name).read_bytes()))["classes"] for name in computed_by_diffusers()}
    return [f"{name}:{place}" for name, classes in files.items() for place, _ in enumerate(next(iter(classes.values()))["forms"])]


FORMS = sample(_AT_ONCE, forms())
PARTS = [FORMS[start : start + _AT_ONCE] for start in range(0, len(FORMS), _AT_ONCE)]


def assert_equal(check: str, part: list[str], subtests: pytest.Subtests) -> None:
    """Compare forms in a process of their own; each is right, or it is said why it cannot be compared."""
    diffusers()
    answers = [json.loads(line) for line in printed_by(f"from oracles.live_diffusers import main; main({[check, *part]!r})").splitlines()]
    assert [answer["form"] for answer in answers] == part
    for answer in answers:
        with subtests.test(answer["form"]):
            assert "failed" not in answer, f"{answer['form']}: {answer['failed']}"
            if "refused" in answer:
                assert answer["refused"].endswith((".", "?")), f"{answer['form']}: {answer['refused']}"
            if reason := answer.get("refused", answer.get("skipped")):
                pytest.skip(f"{answer['form']}: {reason}")
            assert answer["found"] == answer["wanted"], f"{answer['form']} of {answer['shapes']}"


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part[0])
def test_the_counter(part: list[str], subtests: pytest.Subtests) -> None:
    """FLOPs forward and both ways are those of torch's counter, for other inputs than the record was read with."""
    assert_equal("counter", part, subtests)


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part[0])
def test_kept_bytes(part: list[str], subtests: pytest.Subtests) -> None:
    """A pass in training keeps the bytes that autograd holds, or it is said that training is not known."""
    assert_equal("kept", part, subtests)
