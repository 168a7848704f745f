"""A wrong layer is refuted by a comparison, by a property test and by a certificate, each naming the tensor."""

from __future__ import annotations

import pytest
from verify.wrong import CASES, IDS, Case

import paramsym as ps
from paramsym.errors import RefutedError
from paramsym.testing import assert_matches, certify

every_case = pytest.mark.parametrize("case", CASES, ids=IDS)
SIZES = {"A": 2, "F": 4, "H": 5, "V": 7}


@every_case
def test_by_comparison(case: Case) -> None:
    """One instance is enough where the sizes are told."""
    layer, build, name = case
    sizes = {symbol.name: SIZES[symbol.name] for symbol in layer.symbols}
    found = ps.match(layer.at(sizes), build(**sizes))
    assert not found.ok
    assert any(row == name.replace("\\", "") for row in found.mismatched)
    with pytest.raises(RefutedError, match=name):
        assert_matches(layer.at(sizes), build(**sizes))


@every_case
def test_by_a_property(case: Case) -> None:
    """Hypothesis finds sizes and shrinks them."""
    pytest.importorskip("hypothesis")
    from paramsym.testing import check_against

    layer, build, name = case
    with pytest.raises(RefutedError, match=name):
        check_against(layer, build)


@every_case
def test_by_a_certificate(case: Case) -> None:
    """The proof breaks off at the instance that contradicts it; where none is possible, small instances are tried."""
    layer, build, name = case
    with pytest.raises(RefutedError, match=name):
        certify(layer, build)
