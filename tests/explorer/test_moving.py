"""Models are chosen, sizes moved and two models compared, with the mouse and with the keyboard."""

from __future__ import annotations

from typing import Any

from chromium import Browser
from explored import CHOICES, total, whole

import paramsym as ps


def test_a_model_is_chosen_by_typing(page: Browser) -> None:
    """A published name with the keyboard alone; a name that is not there leaves everything as it is, and says so."""
    page.run("document.querySelector('#model').focus(); document.querySelector('#model').select()")
    page.type("bert-base-uncased")
    page.key("Enter", 13)
    page.key("Tab", 9)
    page.wait("explorer.state.models[0].name === 'bert-base-uncased'")
    assert total(page) == 109_482_240  # what transformers builds from the published configuration
    page.run("document.querySelector('#model').focus(); document.querySelector('#model').select()")
    page.type("no such model")
    page.key("Tab", 9)
    page.wait("document.querySelector('#config-said').textContent.includes('is not on this page')")
    assert total(page) == 109_482_240


def test_a_slider_keeps_the_conditions(page: Browser) -> None:
    """Every stop of every slider is a size that the model can have, and the number follows."""
    for letter in "HALVP":
        page.run(f"document.querySelector('[data-letter={letter}] .slider').focus()")
        for name, code in (("ArrowRight", 39), ("ArrowRight", 39), ("Home", 36), ("ArrowRight", 39)):
            page.key(name, code)
            sizes = page.run("Object.fromEntries(Object.entries(explorer.state.models[0].sizes).map(([k, v]) => [k, Number(v)]))")
            assert page.run("document.querySelector('#refusal').hidden"), sizes
            assert total(page) == ps.load("gpt2").at(sizes).count


def test_the_arrows_of_a_field_go_to_the_next_possible_size(page: Browser) -> None:
    """A has to divide H = 768: from 12 up to 16, down to 12 and 8."""
    page.run("document.querySelector('#size-A').focus()")
    found = []
    for name, code in (("ArrowUp", 38), ("ArrowDown", 40), ("ArrowDown", 40)):
        page.key(name, code)
        found.append(page.run("document.querySelector('#size-A').value"))
    assert found == ["16", "12", "8"]


def test_what_is_typed_may_have_separators_and_is_never_rounded(page: Browser) -> None:
    """Numbers beyond doubles are exact; the page says that a text is not a whole number."""
    page.run("document.querySelector('#size-V').focus(); document.querySelector('#size-V').select()")
    page.type("123,456,789,012,345,678,901")
    assert total(page) == 123_456_789_012_345_678_901 * 768 + (ps.load("gpt2").count - 50257 * 768)
    page.run("document.querySelector('#size-V').select()")
    page.type("12.5")
    assert "V is '12.5'; wanted a whole number." in page.run("document.querySelector('[data-letter=V] .wrong').textContent")


def test_the_tabs_are_tabs(page: Browser) -> None:
    """The arrows move between them; the panel says whose it is."""
    page.run("document.querySelector('[role=tab][aria-selected=true]').focus()")
    seen = []
    for _ in CHOICES:
        seen.append(page.run("document.activeElement.dataset.question"))
        page.key("ArrowRight", 39)
    assert seen == [*CHOICES]
    assert page.run("document.querySelector('#answer').getAttribute('aria-labelledby')") == "tab-params"


def test_a_term_lights_its_parts_and_tensors_and_the_other_way_round(page: Browser) -> None:
    """P H is the table of positions and nothing else."""
    place = page.run("[...document.querySelectorAll('.term')].findIndex((one) => one.title === 'transformer.wpe')")
    page.run("document.querySelector('#tensors-box').open = true")
    page.hover(f".term[data-term='{place}']")
    lit = "[...document.querySelectorAll('{}')].map((one) => one.querySelector('th, .part')?.textContent)"
    assert page.run(lit.format("#parts tr.lit")) == ["transformer.wpe"]
    assert page.run(lit.format("#tensors tr.lit")) == ["transformer.wpe.weight"]
    page.hover("#parts tr[data-part='transformer.ln_f'] .part")
    assert page.run("[...document.querySelectorAll('.term.lit')].map((one) => Number(one.dataset.term))") == [4]
    assert page.run(lit.format("#tensors tr.lit")) == ["transformer.ln_f.weight", "transformer.ln_f.bias"]
    page.hover("#tensors tr[data-part='transformer.wpe'] th")
    assert page.run("[...document.querySelectorAll('.term.lit')].map((one) => Number(one.dataset.term))") == [place]
    assert page.run(lit.format("#parts tr.lit")) == ["transformer.wpe"]
    page.run("document.querySelector(\"#parts tr[data-part='transformer.ln_f'] .part\").focus()")  # with the keyboard
    assert page.run("[...document.querySelectorAll('.term.lit')].map((one) => Number(one.dataset.term))") == [4]


def test_two_models_and_where_one_passes_the_other(page: Browser) -> None:
    """The difference is that of the counts, and the crossing is the first size that is larger, found here by trying all."""
    page.click("#second")
    page.wait("explorer.state.models.length === 2")
    page.run("(async () => { explorer.state.active = 1; await explorer.choose('Gpt2', 0, 'gpt2-xl'); })()")
    one, other = ps.load("gpt2"), ps.load("gpt2-xl")
    said = page.run("document.querySelector('.total.difference strong').textContent")
    assert whole(said) == other.count - one.count
    page.run("Object.assign(explorer.state.models[1].sizes, {H: 512n, A: 8n, V: 90000n}); 0")
    page.run("explorer.state.active = 0; explorer.state.chart = 'L'; explorer.rebuild()")
    page.wait("document.querySelector('[data-crossing]')?.textContent.startsWith('L = ')")  # no longer the chart before
    thin = other.at(H=512, A=8, V=90000)
    first = next(layers for layers in range(1, 100) if one.at(L=layers).count > thin.at(L=layers).count)
    assert page.run("Number(document.querySelector('[data-crossing]').dataset.crossing)") == first


def test_crossings_are_exact(page: Browser) -> None:
    """GPT-2's scores pass the output projection of attention where S is more than half of H; found here by trying every S."""
    page.run("explorer.state.question = 'flops'; explorer.state.chart = 'S'; explorer.update()")
    page.wait("document.querySelector('[data-crossing]')?.textContent.startsWith('S = ')")
    cost = ps.flops(ps.models.Gpt2(architecture="GPT2LMHeadModel"))
    parts: dict[str, Any] = {}
    for line in cost.lines:
        if "mlp" not in map(str, line.path):
            parts[str(line.path[-2])] = parts.get(str(line.path[-2]), 0) + line.polynomial("used").as_expr()
    sizes = {"B": 1, "H": 768, "L": 12}
    counted = (
        (
            length,
            *(
                ps.evaluate(parts[name], {s.name: {**sizes, "S": length}[s.name] for s in parts[name].free_symbols})
                for name in ("attn", "c_proj")
            ),
        )
        for length in range(1, 600)
    )
    equal = next(length for length, scores, projection in counted if scores == projection)
    assert page.run("Number(document.querySelector('[data-crossing]').dataset.crossing)") == equal
    assert "transformer.h.attn and transformer.h.attn.c_proj are equal" in page.run("document.querySelector('[data-crossing]').textContent")


POLYNOMIALS = """
() => {
  let seed = 20;
  const random = (most) => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed % most; };
  const text = ({ found }) => found.map(({ value, above, equal }) => `${value} ${above} ${equal}`).join();
  const results = [];
  for (let turn = 0; turn < 400; turn += 1) {
    const degree = 1 + random(5), roots = Array.from({ length: degree }, () => BigInt(random(200) - 20)), over = BigInt(random(5) - 2);
    const value = (x) => 10n ** 9n + over + roots.reduce((product, root) => product * (2n * x - root), 1n);
    const low = turn % 2;
    const line = (name, count, power) => ({ name, count: (x) => (x % 7n === 5n ? null : count(x)), power });
    const drawn = (power) => [line("a", value, power), line("b", () => 10n ** 9n, power && { high: 0, low })];
    const values = [1n, 8n, 15n, 22n, 29n, 43n, 64n, 99n];
    results.push([{ high: degree, low }, null].map((power) => text(explorer.crossings(drawn(power), values, 1n))));
  }
  return results;
}
"""


def test_crossings_between_the_sizes_drawn_are_found(page: Browser) -> None:
    """Random polynomials that cross several times between two sizes: the result equals a search over every size. Some sizes are refused."""
    results = page.run(f"({POLYNOMIALS})()")
    assert [pair for pair in results if pair[0] != pair[1]] == []
    assert sum(one.count(",") + 1 for one, _ in results if one) > 400


def test_crossings_that_may_be_missed_are_said(page: Browser) -> None:
    """Where a line moves in steps, and there are more sizes than can be tried."""
    stepped = "{name, count: (x) => x / 3n, power: null}".replace("name", "name: 'a'")
    other = "{name: 'b', count: () => 5000n, power: {high: 0, low: 0}}"
    values = "[1n, 100n, 100000n]"
    assert page.run(f"explorer.crossings([{stepped}, {other}], {values}, 1n).exact") is False
    assert page.run(f"explorer.crossings([{stepped}, {other}], [1n, 20n, 2000n], 1n).exact") is True


def test_the_derivation_has_the_numbers_in(page: Browser) -> None:
    """The heads cancel from the parameters and not from the activations; every step's line of numbers is the equation's value."""
    page.wait("document.querySelector('#why .numbers')?.textContent")
    verdicts = page.run("Object.fromEntries([...document.querySelectorAll('.verdict')].map((one) => [one.dataset.count, one.textContent]))")
    assert verdicts["params"].endswith("cancels")
    assert verdicts["activations"].endswith("changes it")
    lines = page.run("[...document.querySelectorAll('#why .numbers')].map((one) => one.textContent)")
    why = ps.explain(ps.load("gpt2"), "A")
    assert lines[0] == "3 · 12 · 768 · 12 · 64 = 21,233,664"
    assert [whole(line.rsplit("= ")[-1]) for line in lines] == [int(step.numbers.rsplit("= ")[-1].replace(",", "")) for step in why.steps]
