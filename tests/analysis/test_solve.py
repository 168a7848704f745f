"""Sizes for a budget: published families are found by their counts, and nothing is missed."""

from __future__ import annotations

from itertools import product

import pytest
from amount import cases
from sympy import Eq, Mod, Rational, ceiling

import paramsym as ps
from paramsym import A, F, G, H, K, L, V, per, solve
from paramsym.errors import ArgumentError, ParamsymError, SizeError, UnknownNameError


def test_llama_7b() -> None:
    """Touvron et al. 2023, table 2: heads of width 128, 8/3 H rounded up to a multiple of 256."""
    model = ps.models.Llama(architecture="LlamaForCausalLM").at(V=32000)
    over = {H: range(1024, 8193, 128), L: range(1, 101), A: per(H, 128), G: A, F: 256 * ceiling(H / 96)}
    found = solve(model, 6_738_415_616, over)
    assert {(one["H"], one[L], one["A"], one["F"]) for one in found} >= {(4096, 32, 32, 11008)}
    assert all(one.difference == 0 for one in found)


def test_gpt2_medium() -> None:
    """Radford et al. 2019, table 2, the second row, by the count of the published weights."""
    found = solve(ps.models.Gpt2().at(V=50257, P=1024), 354_823_168, {"H": range(64, 4097, 64), "L": range(1, 101)})
    assert [(one["H"], one["L"]) for one in found] == [(1024, 24)]


def test_bert_large() -> None:
    """Devlin et al. 2019: H = 1024, L = 24, heads of width 64."""
    over = {H: range(64, 2049, 64), L: range(1, 49), A: per(H, 64), F: 4 * H}
    found = solve(ps.models.Bert().at(V=30522, P=512, T=2), 335_141_888, over)
    assert (1024, 24, 16, 4096) in {(one[H], one[L], one[A], one[F]) for one in found}


@cases(2)
@pytest.mark.parametrize("target", [120, 360, 1000, 2362368])
def test_nothing_is_missed(target: int) -> None:
    """All combinations tried one by one, through the constructors, give the same answers."""
    model = ps.Repeat(ps.MultiHeadAttention(H, A, bias=False), L)
    over = {H: range(1, 13), A: range(1, 7), L: range(1, 20)}
    expected = set()
    for width, heads, depth in product(*over.values()):
        try:
            if model.at({H: width, A: heads, L: depth}).count == target:
                expected.add((width, heads, depth))
        except ParamsymError:
            continue
    found = solve(model, target, over)
    assert {(one[H], one[A], one[L]) for one in found} == expected
    assert found.searched == 12 * 6 * 19


@cases(0)
def test_nothing_is_missed_where_quotients_are_counted() -> None:
    """Grouped heads of a free number, and a width per group that rounds up: every count is found with all sizes that give it."""
    model = ps.models.Llama().at(V=11)
    over = {H: range(2, 9), A: range(1, 4), G: range(1, 4), F: [3, 9], L: range(3)}
    answers: dict[int, set[tuple[int, ...]]] = {}
    for sizes in product(*over.values()):
        try:
            count = model.at(dict(zip(over, sizes, strict=True))).count
        except ParamsymError:
            continue
        answers.setdefault(count, set()).add(sizes)
    for target in sorted(answers)[::5]:
        found = solve(model, target, over)
        assert {tuple(one[symbol] for symbol in over) for one in found} == answers[target]
    expression = L * ceiling(H / 3) * per(H, A) + G * H / A + G * F
    wanted: dict[int, int] = {}
    for sizes in product(*over.values()):
        value = expression.subs(dict(zip(over, sizes, strict=True)), simultaneous=True) if sizes[0] % sizes[1] == 0 else None
        if value is not None:
            wanted[value] = wanted.get(value, 0) + 1
    for target in sorted(wanted)[::7]:
        assert len(solve(expression, int(target), over)) == wanted[target]


def test_a_symbol_over_another() -> None:
    """A quotient that is not whole for some of the bisected sizes: whole ones between them are found."""
    found = solve(L * H / A, 12, {L: range(1, 40), H: range(1, 40), A: [5, 7]})
    expected = [(one, h, a) for one in range(1, 40) for h in range(1, 40) for a in (5, 7) if one * h == 12 * a]
    assert sorted((one["L"], one["H"], one["A"]) for one in found) == expected


def test_sizes_a_layer_cannot_have_are_no_solutions() -> None:
    """A width of zero gives no parameters, and is no width; a number of copies may be zero."""
    assert len(solve(ps.Dense(H, F), 3, {H: [0, 2], F: [1, 3]})) == 1
    assert len(solve(ps.Dense(H, F), 0, {H: range(3), F: range(3)})) == 0
    assert [one["L"] for one in solve(L * ps.Dense(H, H), 0, {H: [4], L: range(3)})] == [0]


@pytest.mark.parametrize("best", [1, 3, 10])
def test_the_nearest_are_the_nearest(best: int) -> None:
    """Grouped heads bring a quotient into the count, so nothing can be bisected; still the nearest come first."""
    model = ps.models.Llama().at(V=11, F=4 * H)
    over = {H: range(1, 13), A: range(1, 5), G: range(1, 5), L: range(1, 5)}
    distances = []
    for width, heads, groups, depth in product(*over.values()):
        try:
            distances.append(abs(model.at({H: width, A: heads, G: groups, L: depth}).count - 1234))
        except ParamsymError:
            continue
    found = solve(model, 1234, over, best=best)
    assert [abs(one.difference) for one in found] == sorted(distances)[:best]
    linear = solve(ps.Dense(H, F), 1234, {H: range(1, 60), F: range(1, 60)}, best=best)
    assert [abs(one.difference) for one in linear] == sorted(abs(h * f + f - 1234) for h in range(1, 60) for f in range(1, 60))[:best]


def test_rounded_targets_and_tolerance() -> None:
    """A rounded number is met by what rounds to it."""
    model = ps.models.Gpt2().at(V=50257, P=1024)
    over = {H: range(128, 2049, 128), L: range(1, 49)}
    found = solve(model, "1.3B", over)
    assert found
    assert all(1_250_000_000 <= one.count <= 1_350_000_000 for one in found)
    assert len(solve(model, 124_000_000, over)) == 0
    assert 124_439_808 in {one.count for one in solve(model, 124_000_000, over, tolerance=Rational(1, 100))}


def test_relations_between_sizes() -> None:
    """An aspect ratio."""
    model = ps.models.Gpt2().at(V=50257, P=1024)
    over = {H: range(64, 2049, 64), L: range(1, 49)}
    found = solve(model, "350M", over, where=[H >= 32 * L, H <= 128 * L])
    assert found
    assert all(32 <= one[H] / one[L] <= 128 for one in found)
    assert len(found) < len(solve(model, "350M", over))


def test_one_relation_needs_no_list() -> None:
    """A relation that divides by zero somewhere does not hold there."""
    over = {H: range(1, 9), F: range(1, 9)}
    assert [(one[H], one[F]) for one in solve(ps.Dense(H, F), 20, over, where=H > F)] == []
    assert [(one[H], one[F]) for one in solve(ps.Dense(H, F), 20, over, where=H < F)] == [(3, 5)]
    assert [(one[H], one[F]) for one in solve(ps.Dense(H, F), 20, over, where=[Eq(Mod(H, F - 4), 0)])] == [(3, 5)]


def test_what_gives_the_target_is_counted() -> None:
    """The nearest are asked for; the heading says how many of them give the target."""
    model = ps.models.Gpt2().at(V=50257, P=1024)
    over = {H: range(256, 2049, 256), L: range(2, 9)}
    assert str(solve(model, 1_300_000_000, over, best=3)).startswith("the nearest 3 of 56 combinations; 0 of them give 1,300,000,000\n")
    widths = {H: range(1, 9), F: range(1, 9)}
    assert str(solve(ps.Dense(H, F), 81, widths, best=2)).startswith("the nearest 2 of 64 combinations; 0 of them give 81\n")
    assert str(solve(ps.Dense(H, F), 72, widths, best=2)).startswith("the nearest 2 of 64 combinations; 1 of them gives 72\n")
    assert str(solve(ps.Dense(H, F), 12, widths, best=9)).startswith("the nearest 9 of 64 combinations; 4 of them give 12\n")
    assert str(solve(ps.Dense(H, F), 12, widths, best=2)).startswith("the nearest 2 of 64 combinations; 2 of them give 12\n")
    assert str(solve(ps.Dense(H, F), 72, widths)).startswith("1 of 64 combinations gives 72\n")
    assert str(solve(ps.Dense(H, F), 7, {H: [8], F: [8, 9]})) == "0 of 2 combinations give 7; best=3 finds the nearest"


def test_impossible_candidates_are_passed_over() -> None:
    """No heads divide nothing, whether heads are looked for or the width follows from them."""
    heads = [one[A] for one in solve(ps.MultiHeadAttention(H, A), 2_362_368, {H: 768, A: range(3)})]
    assert heads == [1, 2]
    follows = solve(ps.MultiHeadAttention(H, A), 2_362_368, {A: range(3), H: per(1536, A)})
    assert [(one[A], one[H]) for one in follows] == [(2, 768)]


def test_the_same_again() -> None:
    """Two searches give the same answers in the same order, shown in the same way."""
    over = {H: range(1, 40), F: [5, 3, 3, 8]}
    one, two = (solve(ps.Dense(H, F), 120, over) for _ in range(2))
    assert (list(one), str(one)) == (list(two), str(two))
    assert "difference" in str(one.table())
    assert "<table" in one._repr_html_()
    assert list(one[:1]) == [one[0]]


def test_progress_and_interrupt(capsys: pytest.CaptureFixture[str]) -> None:
    """A long search says how far it is; an interrupt keeps what was found."""
    seen: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        seen.append((done, total))
        if done == 3:
            raise KeyboardInterrupt

    found = solve(ps.Dense(H, F), 12, {H: range(1, 40), F: range(1, 30)}, progress=stop)
    assert not found.complete
    assert "interrupted" in str(found)
    assert seen[0] == (1, 29)
    solve(ps.Dense(H, F), 12, {H: range(1, 40), F: range(1, 30)}, progress=True)
    assert "29/29" in capsys.readouterr().err


def test_wrong_questions() -> None:
    """Each with one clear error."""
    with pytest.raises(UnknownNameError, match="no symbol 'V'"):
        solve(ps.Dense(H, F), 12, {V: [3]})
    with pytest.raises(UnknownNameError, match="needs candidates for F"):
        solve(ps.Dense(H, F), 12, {H: [3]})
    with pytest.raises(UnknownNameError, match="where has K >= 3, but K has no candidates"):
        solve(ps.Dense(H, F), 12, {H: [3], F: [1]}, where=[K >= 3])
    with pytest.raises(ArgumentError, match="wanted relations"):
        solve(ps.Dense(H, F), 12, {H: [3], F: [1]}, where=[True])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match="wanted a mapping"):
        solve(ps.Dense(H, F), 12, [H, F])  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="K has no candidates"):
        solve(ps.Dense(H, F), 12, {H: [3], F: K})
    for where in (True, 3, None, "H>F", [H > 1, 3]):
        with pytest.raises(ArgumentError, match="wanted relations"):
            solve(ps.Dense(H, F), 12, {H: [3], F: [1]}, where=where)  # type: ignore[arg-type]
    with pytest.raises(SizeError, match="H is given twice"):
        solve(ps.Dense(H, F), 12, {H: [3], "H": [4], F: [1]})
    with pytest.raises(ArgumentError, match="candidates"):
        solve(ps.Dense(H, F), 12, {H: range(1, 10**400), F: [1]})
    with pytest.raises(ArgumentError, match="bits"):
        solve(ps.Dense(H, F), 10**5000, {H: [1], F: [1]})
    for wrong in ("abc", 2.5, [1.5], [True]):
        with pytest.raises(ArgumentError, match="candidates"):
            solve(ps.Dense(H, F), 12, {H: wrong, F: [1]})
    for target in (1.5, float("nan"), True, None):
        with pytest.raises(ArgumentError, match="target is"):
            solve(ps.Dense(H, F), target, {H: [3], F: [1]})  # type: ignore[arg-type]
    for keywords in ({"best": 0}, {"tolerance": 0.5}, {"tolerance": "1%"}):
        with pytest.raises(ArgumentError):
            solve(ps.Dense(H, F), 12, {H: [3], F: [1]}, **keywords)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="has no K"):
        solve(ps.Dense(H, F), 4, {H: [3], F: [1]})[0]["K"]


def test_a_table_of_no_solutions() -> None:
    """Where nothing fits, the table has its two last columns and no row."""
    none = solve(ps.Dense(H, 4, bias=False), 7, {H: range(1, 9)})
    assert not none
    assert none.table().to_csv().split() == ["parameters,difference"]


def test_a_float_as_the_target() -> None:
    """1.3e9 is what people type: it means what "1.3B" means."""
    layer, over = ps.models.Gpt2().at(V=50257, P=1024), {H: range(1536, 2049, 64), L: range(20, 30)}
    rounded = ps.solve(layer, 1.3e9, over)
    assert list(rounded) == list(ps.solve(layer, "1.3B", over))
    assert len(rounded) > 0
    assert "1.3e9" in str(rounded)
