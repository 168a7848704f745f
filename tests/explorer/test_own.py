"""Pages of single models and of two side by side: the numbers are Python's at random positions of the sliders, and the file is whole."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chromium import Browser
from explored import CHOICES, asked, whole

import paramsym as ps
from paramsym import A, B, C, H, K, L, S, dims, index
from paramsym.errors import ParamsymError

POSITIONS = 50


def minigpt(n_embd: int, n_layer: int, vocab: int, block: int) -> dict[str, tuple[int, ...]]:
    """Return the tensors of minGPT, https://github.com/karpathy/minGPT, mingpt/model.py, by name."""
    found = {"transformer.wte.weight": (vocab, n_embd), "transformer.wpe.weight": (block, n_embd)}
    for layer in range(n_layer):
        for name in ("ln_1", "ln_2"):
            found |= {f"transformer.h.{layer}.{name}.{kind}": (n_embd,) for kind in ("weight", "bias")}
        for name, wide, deep in (("attn.c_attn", 3, 1), ("attn.c_proj", 1, 1), ("mlp.c_fc", 4, 1), ("mlp.c_proj", 1, 4)):
            found |= {f"transformer.h.{layer}.{name}.weight": (wide * n_embd, deep * n_embd)}
            found |= {f"transformer.h.{layer}.{name}.bias": (wide * n_embd,)}
    found |= {f"transformer.ln_f.{kind}": (n_embd,) for kind in ("weight", "bias")}
    return found | {"lm_head.weight": (vocab, n_embd)}


def unet() -> ps.Layer:
    """Return a small U-Net of torch, read."""
    torch: Any = pytest.importorskip("torch")
    nn = torch.nn

    class UNet(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.down = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU())
            self.pool = nn.MaxPool2d(2)
            self.deep = nn.Sequential(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU())
            self.up = nn.ConvTranspose2d(32, 16, 2, stride=2)
            self.out = nn.Conv2d(32, 2, 3, padding=1)

        def forward(self, x: Any) -> Any:
            kept = self.down(x)
            return self.out(torch.cat([kept, self.up(self.deep(self.pool(kept)))], 1))

    return ps.from_module(UNet())


def growing() -> ps.Layer:
    """Return copies whose sizes contain their number, as in a dense block of DenseNet."""
    i = index("i")
    return ps.Repeat(ps.Dense(C + i * K, K), L, index=i)


MODELS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "attention": lambda: (ps.MultiHeadAttention(H, A, batch_first=True), (B, S, H)),
    "gpt2": lambda: (ps.load("gpt2"),),
    "deepseek-v3": lambda: (ps.load("deepseek-ai/DeepSeek-V3"),),
    "derived": lambda: (ps.derive(minigpt),),
    "read": lambda: (unet(), (B, 3, 2 * H, 2 * dims("W"))),
    "recorded": lambda: (ps.load("led"),),
    "vision": lambda: (ps.load("levit"),),
    "timm": lambda: (ps.load("timm/resnet18"),),
    "resnet50": lambda: (ps.load("resnet50"),),
    "mamba": lambda: (ps.load("state-spaces/mamba-130m-hf"),),
    "two": lambda: (ps.load("gpt2"), ps.load("bert-base-uncased")),
    "growing": lambda: (growing(),),
}

MOVE = """
async (cases) => {
  const { state } = explorer, shown = [];
  for (const { side, question, choices, places } of cases) {
    state.active = side; state.question = question; Object.assign(state.choices, choices);
    explorer.rebuild();
    for (const row of document.querySelectorAll('.size')) {
      const slider = row.querySelector('.slider');
      slider.value = Math.floor(places[row.dataset.letter] * (Number(slider.max) + 1));
      slider.dispatchEvent(new Event('input', { bubbles: true }));
    }
    const cells = (selector) => [...document.querySelectorAll(selector)].map((one) => one.textContent);
    const sizes = state.models.map((model) => explorer.all(model, state.inputs));
    shown.push({ sizes: sizes.map((one) => Object.fromEntries(Object.entries(one).map(([name, size]) => [name, String(size)]))),
      totals: cells('.total .count'), refusal: document.querySelector('#refusal').textContent,
      terms: cells('.term .value'), parts: cells('#parts .amount') });
  }
  return shown;
}
"""


def answer(model: ps.Layer, shapes: tuple[Any, ...], question: str, chosen: dict[str, str], sizes: dict[str, str]) -> int:
    """Ask Python for what the page shows."""
    subject = asked(model.origin[0], question, chosen, shapes)
    found = ps.evaluate(subject, {symbol.name: int(sizes[symbol.name]) for symbol in subject.symbols})
    assert isinstance(found, int)
    return found


@pytest.mark.parametrize("name", MODELS)
def test_every_number_is_pythons(name: str, browser: Browser, tmp_path: Path) -> None:
    """Total, terms and parts at 50 random positions of the sliders, half of them on a phone; no error, no network."""
    arguments = MODELS[name]()
    models = [one for one in arguments if isinstance(one, ps.Layer)]
    shapes = tuple(one for one in arguments if not isinstance(one, ps.Layer))
    path = ps.explore(*arguments).save(tmp_path / "page.html")
    assert path.stat().st_size < 1_500_000
    browser.console.clear()
    browser.requests.clear()
    browser.size(1400)
    browser.open(path.as_uri(), "document.body?.dataset.ready")
    rng = random.Random(name)
    counted = 0
    answers = browser.run(
        "Promise.all(Object.keys(explorer.index).map((one) => explorer.load(one)))"
        ".then((all) => all.map(({variants: [one]}) => Object.keys(one.questions)))"
    )
    known = [one for one in CHOICES if all(one in found for found in answers)]
    letters = browser.run("explorer.state.models.flatMap((one) => [...one.variant.letters, ...one.variant.inputs]).map(([name]) => name)")
    cases = []
    for number in range(POSITIONS):
        question = known[number % len(known)]
        chosen = {choice: rng.choice(values) for choice, values in CHOICES[question].items()}
        places = {letter: rng.random() for letter in letters}
        cases.append({"side": number % len(models), "question": question, "choices": chosen, "places": places})
    moved = []
    for width, some in ((1400, cases[: POSITIONS // 2]), (390, cases[POSITIONS // 2 :])):
        browser.size(width)
        moved += browser.run(f"({MOVE})({json.dumps(some)})")
    for case, shown in zip(cases, moved, strict=True):
        if shown["refusal"]:
            with pytest.raises(ParamsymError):
                [answer(one, shapes, case["question"], case["choices"], sizes) for one, sizes in zip(models, shown["sizes"], strict=True)]  # type: ignore[arg-type]
            continue
        counted += 1
        right = [
            answer(one, shapes, case["question"], case["choices"], sizes)  # type: ignore[arg-type]
            for one, sizes in zip(models, shown["sizes"], strict=True)
        ]
        assert [*map(whole, shown["totals"])] == right, (case, shown)
        assert sum(map(whole, shown["parts"])) == sum(right), case
        assert sum(map(whole, shown["terms"])) >= sum(right), case
    assert counted > POSITIONS * 0.8
    assert browser.console == []
    assert [one for one in browser.requests if not re.match(r"(file|data|blob):|about:blank", one)] == []


@pytest.mark.parametrize("name", MODELS)
def test_copied_python_gives_the_number(name: str, browser: Browser, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Run as it stands; the page of a layer without a plain expression says which one it means."""
    path = ps.explore(*MODELS[name]()).save(tmp_path / "page.html")
    browser.open(path.as_uri(), "document.body?.dataset.ready")
    for question in ("params", "flops"):
        browser.run(f"explorer.state.question = '{question}'; explorer.update()")
        written = browser.run("explorer.python()")
        if "..." in written:
            assert name in {"derived", "read", "growing"}
        elif not browser.run("document.querySelector('#refusal').textContent"):
            exec(written, {})  # noqa: S102 - what is tested is that the source runs
            shown = browser.run("[...document.querySelectorAll('.total .count')].map((one) => one.textContent)")
            assert capsys.readouterr().out.split() == [one.replace(",", "") for one in shown], written


@pytest.mark.parametrize("width", [390, 1400])
def test_no_page_scrolls_sideways(browser: Browser, tmp_path: Path, width: int) -> None:
    """At the widths of a phone and of a desk."""
    browser.size(width)
    for name in ("attention", "deepseek-v3", "two"):
        path = ps.explore(*MODELS[name]()).save(tmp_path / f"{name}.html")
        browser.open(path.as_uri(), "document.body?.dataset.ready")
        browser.wait("document.querySelector('#why').textContent")
        assert browser.run("document.documentElement.scrollWidth <= window.innerWidth"), name


def test_a_phone_shows_formulas_tables_and_charts_whole(browser: Browser, tmp_path: Path) -> None:
    """Long brackets are broken, tables fit, and the words of a chart can be read."""
    browser.size(390)
    inside = "[...document.querySelectorAll('{}')].every((one) => one.scrollWidth <= one.clientWidth)"
    for name in ("deepseek-v3", "two"):
        path = ps.explore(*MODELS[name]()).save(tmp_path / f"{name}.html")
        browser.open(path.as_uri(), "document.body?.dataset.ready")
        browser.wait("document.querySelector('#why .step .katex') && document.querySelector('#chart text')")
        assert browser.run(inside.format(".step")), name
        assert browser.run(inside.format("#answer > .scroll")), name
        assert browser.run("[...document.querySelectorAll('#chart text')].every((one) => one.getBoundingClientRect().height > 11)")
    assert "109,482,240, difference" in browser.run("document.querySelector('#echo').textContent")


def test_a_letter_that_is_not_in_a_count_is_said(browser: Browser, tmp_path: Path) -> None:
    """The parameters of a module that was read are numbers; its FLOPs have letters, and the page begins with them."""
    path = ps.explore(*MODELS["read"]()).save(tmp_path / "page.html")
    browser.open(path.as_uri(), "document.body?.dataset.ready")
    call = "ps.explain(ps.flops(model, (B, 3, 2*H, 2*W), way='forward'), \"B\")"
    browser.wait(f"document.querySelector('#why').textContent.includes({json.dumps(call)})")
    assert browser.run("document.querySelectorAll('#inputs .slider').length") == 3
    browser.run("explorer.state.question = 'params'; explorer.update()")
    browser.wait("!document.querySelector('#why').textContent.includes('ps.explain')")
    assert browser.run("document.querySelector('#why').textContent") == "B is not in this count."


def test_formulas_of_names_are_the_librarys(browser: Browser, tmp_path: Path) -> None:
    """Names of several letters are apart, as in the library's LaTeX; and a term that fits gets no scrollbar."""
    derived = ps.derive(minigpt)
    path = ps.explore(derived).save(tmp_path / "page.html")
    browser.size(1400)
    browser.open(path.as_uri(), "document.body?.dataset.ready")
    shown = browser.run("[...document.querySelectorAll('.term .math')].map((one) => one.dataset.latex)")
    assert " + ".join(shown) == derived.to_latex()
    assert browser.run("[...document.querySelectorAll('.term .math')].every((one) => one.scrollWidth <= one.clientWidth)")


def test_a_notebook_shows_the_page_in_its_cell(browser: Browser, tmp_path: Path) -> None:
    """The page is whole inside the cell's HTML, and works there without an address of its own."""
    cell = ps.explore(ps.MultiHeadAttention(H, A))._repr_html_()
    (tmp_path / "notebook.html").write_text(f"<!doctype html><title>notebook</title>{cell}", encoding="utf-8")
    browser.console.clear()
    inside = "document.querySelector('iframe')?.contentDocument"
    browser.open((tmp_path / "notebook.html").as_uri(), f"{inside}?.body?.dataset.ready")
    assert browser.run(f"{inside}.querySelector('.total .count').textContent") == "2,362,368"
    assert browser.run(f"{inside}.querySelector('[data-copy=link]').hidden")
    browser.wait(f"{inside}.querySelector('#chart svg')")
    assert browser.console == []


def test_a_count_without_a_closed_form_is_said(browser: Browser, tmp_path: Path) -> None:
    """The tab says why there is no formula; nothing is wrong in the console."""
    i = index("i")
    path = ps.explore(ps.Repeat(ps.Dense(C + i // 2, K), L, index=i)).save(tmp_path / "page.html")
    browser.console.clear()
    browser.open(path.as_uri(), "document.body?.dataset.ready")
    assert "has no closed form" in browser.run("document.querySelector('#refusal').textContent")
    assert browser.console == []


def test_wrong_subjects_are_refused() -> None:
    """By what was found and what was wanted."""
    with pytest.raises(ParamsymError, match="one model, or two"):
        ps.explore(ps.Dense(H, H), ps.Dense(H, H), ps.Dense(H, H))
    with pytest.raises(ParamsymError, match="wanted a layer"):
        ps.explore("gpt2")  # type: ignore[arg-type]
    with pytest.raises(ps.ParamsymError):
        ps.explore(ps.Dense(8, 8), (B, S, 7))
    with pytest.raises(ParamsymError, match="cannot be written"):
        ps.explore(ps.Dense(H, H)).save("/no/such/folder/page.html")
