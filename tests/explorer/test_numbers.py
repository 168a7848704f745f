"""The numbers of the page are those of the library, for random sizes of every family; what it refuses, the library refuses."""

from __future__ import annotations

import json
import random

import pytest
from chromium import Browser
from explored import CHOICES, NAMES, asked, choose, sizes_for, whole

import paramsym as ps
from paramsym.errors import ParamsymError

SET = """
async (cases) => {
  const { state } = explorer, shown = [];
  for (const { family, number, sizes, inputs, question, choices } of cases) {
    const big = (given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name, BigInt(value)]));
    state.models = [await explorer.model(family, number, undefined, big(sizes))];
    state.active = 0; state.inputs = big(inputs); state.question = question; Object.assign(state.choices, choices);
    explorer.rebuild();
    const cells = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
    shown.push([document.querySelector('.total .count').textContent, document.querySelector('#refusal').textContent,
      cells('.term .value'), cells('#parts .amount')]);
  }
  return shown;
}
"""


def test_numbers_are_those_of_the_library(page: Browser) -> None:
    """For random sizes of every family, all of its variants and every question: total, terms and parts."""
    rng, cases, expected = random.Random(17), [], []
    for family in NAMES:
        variants = page.run(
            f"explorer.load('{family}').then(({{variants}}) => variants.map((one) => ({{...one, programs: 0, tensors: 0}})))"
        )
        for number, variant in enumerate(variants):
            root = eval(variant["python"], {"ps": ps}).origin[0]
            letters, inputs = [one[0] for one in variant["letters"]], {one[0]: rng.randint(1, 9) for one in variant["inputs"]}
            inputs |= {name: 3 * rng.randint(1, 4) * 32 for name in inputs if name in {"W", "S"}}
            inputs |= {"W": 16_000 * rng.randint(1, 9)} if "input_values" in variant["shapes"] else {}
            first = next(iter(variant["models"].values()), [8] * len(letters))
            known = {name: size or 64 for name, size in zip(letters, first, strict=True)}
            inputs |= {"S": min(inputs["S"], known["P"])} if "S" in inputs and "P" in known else {}
            sizes = sizes_for(rng, root, known, inputs if "flops" in variant["questions"] else {})
            questions = [*variant["questions"]] if number == 0 else ["params", rng.choice([*variant["questions"]][1:] or ["params"])]
            for question in dict.fromkeys(questions):
                chosen = {name: rng.choice(values) for name, values in CHOICES[question].items()}
                subject = asked(root, question, chosen)
                given = {**sizes, **inputs}
                try:
                    right = ps.evaluate(subject, {s.name: given[s.name] for s in subject.symbols})
                except ParamsymError:  # sizes that the inputs do not fit
                    continue
                expected.append(right)
                cases.append(
                    {"family": family, "number": number, "sizes": sizes, "inputs": inputs, "question": question, "choices": chosen}
                )
    assert len(cases) > 500
    assert {case["family"] for case in cases} == {*NAMES}
    shown = page.run(f"({SET})({json.dumps(cases)})")
    refused = [case for case, (_, refusal, _, _) in zip(cases, shown, strict=True) if refusal]
    assert len(refused) < len(cases) / 20  # exported code refuses sizes for which its formula may be wrong; the library may allow them
    for case, (number, refusal, terms, parts), right in zip(cases, shown, expected, strict=True):
        if refusal:
            continue
        assert (whole(number), sum(map(whole, parts))) == (right, right), case
        # a negative term has its sign before it, so that only sums of positive terms are sums of the shown numbers
        assert sum(map(whole, terms)) >= right, case


def test_every_question_has_an_answer(page: Browser) -> None:
    """Every variant of every family has an answer on every tab; a missing answer would be shown with its reason."""
    missing = "({variants}) => variants.flatMap(({title, missing}) => Object.entries(missing).map((one) => [title, ...one]))"
    assert [one for family in NAMES for one in page.run(f"explorer.load('{family}').then({missing})")] == []
    page.run(
        "explorer.load('Gpt2').then(({variants: [one]}) => { one.questions = {}; one.missing = {params: 'why not.'}; explorer.update(); })"
    )
    assert "why not." in page.run("document.querySelector('#refusal').textContent")


def test_no_copies_are_counted_as_the_library_counts_them_or_refused(page: Browser) -> None:
    """Without blocks, a cost has fewer steps, for which the page has no formula; the formula of the parameters holds."""
    root = ps.load("gpt2").origin[0]
    sizes = {symbol.name: int(size) for symbol, size in ps.load("gpt2").sizes.items()} | {"L": 0}
    chosen = {"pass": "forward", "count": "FLOPs", "precision": "float32", "attention": "eager"}
    inputs = {"B": 2, "S": 64}
    common = {"family": "Gpt2", "number": 0, "sizes": sizes, "inputs": inputs, "choices": chosen}
    shown = page.run(f"({SET})({json.dumps([{**common, 'question': name} for name in CHOICES])})")
    refused = "this formula does not hold where L is 0."
    for question, (number, refusal, _, _) in zip(CHOICES, shown, strict=True):
        cost = asked(root, question, chosen)
        right = cost.at({symbol.name: (sizes | inputs)[symbol.name] for symbol in cost.symbols}).count
        assert (refusal, number) == (("", f"{right:,}") if question == "params" else (refused, "—")), question


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("gpt2", {"A": 7}),
        ("bert-base-uncased", {"H": 786}),
        ("meta-llama/Meta-Llama-3-8B", {"G": 5}),
        ("mistralai/Mixtral-8x7B-v0.1", {"K": 9}),
        ("google/vit-base-patch16-224", {"K": 500}),
        ("bert-base-uncased", {"H": 0}),
    ],
)
def test_broken_conditions_are_said_in_the_words_of_the_library(page: Browser, name: str, changed: dict[str, int]) -> None:
    """What the library says of these sizes, after the name of the model."""
    with pytest.raises(ParamsymError) as said:
        ps.load(name).at(changed)
    choose(page, name)
    for letter, value in changed.items():
        page.run(f"document.querySelector('#size-{letter}').focus(); document.querySelector('#size-{letter}').select()")
        page.type(str(value))
    refusal = page.run("document.querySelector('#refusal').textContent")
    assert refusal
    assert str(said.value).endswith(refusal)
    assert page.run("document.querySelector('.total .count').textContent") == "—"
