"""Families by hand beside records of their types: what a record answers is what the family answers, and the rest it refuses by name."""

from __future__ import annotations

import pytest
from amount import ALL, sample
from atlas_builder.beside_families import differences, recorded_families, records

from paramsym.models import family_of

_NO_GROUPS = "as many key/value heads as query heads, if given, are no groups for the family, and a letter of their own for the record"
_STEPS = "a norm that the reference writes out step by step is a norm for the family, and several operators for the record"
KNOWN = {
    ("CohereModel CohereForCausalLM", "letter formula count explanation"): _NO_GROUPS,
    ("CohereModel CohereForCausalLM", "FLOPs kept memory"): _STEPS,
}
"""By classes and parts, the differences that are known, and why."""
CLASSES = [(model_type, name) for model_type in recorded_families() for name in family_of(model_type).architectures]


def test_some_families() -> None:
    """There are records to compare."""
    assert len(CLASSES) >= 2


@pytest.mark.parametrize(("model_type", "name"), sample(2, CLASSES))
def test_no_other_answer(model_type: str, name: str) -> None:
    """At drawn configurations all that both answer is equal: tensors, letters, formulas, FLOPs, kept bytes, caches, explanations."""
    known = {part for (names, parts) in KNOWN if name in names.split() for part in parts.split()}
    with records():
        found = differences(model_type, name, 20 if ALL else 1)
    wrong = [str(one) for one in found if not one.refused and one.part not in known]
    assert not wrong, "\n".join(wrong)
