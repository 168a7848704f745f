"""Write the gallery: every claim with its verdict, formula, value and term, all computed when it is written; no number is stored.

Run from the repository: ``python docs/gallery/build.py`` writes ``docs/gallery/index.md``.
"""

from __future__ import annotations

import ast
import gzip
import inspect
import json
import re
import sys
from math import prod
from pathlib import Path
from typing import Any

from items import CLAIMS, COUNTS, OUTSIDE, QUESTIONS, VALUES
from networks import NETWORKS
from sympy import Expr

import paramsym as ps
from paramsym.analysis.claim import read
from paramsym.analysis.reconcile.answers import Answer
from paramsym.errors import ParamsymError
from paramsym.measure.shapes import output_shape
from paramsym.present.tabulate import formula_latex

HERE = Path(__file__).parent
FACTS = HERE.parent.parent / "tests" / "facts" / "seeds_audit.json.gz"
# BERT base, for claims that do not repeat all of its sizes.
_SIZES = {"V": 30522, "P": 512, "T": 2, "H": 768, "F": 3072, "L": 12, "A": 12}
_RENAMED = {"n": "P", "d": "H"}  # the letters of the encoder-decoder page
_PLAIN: dict[str, Any] = {"symbols": None}  # a claim without letters
_VERDICTS = {"right": "right", "wrong": "wrong", "right_under_assumption": "right under an assumption", "no_claim": "no number claimed"}


def items() -> list[dict[str, Any]]:
    """Return every recorded claim."""
    with gzip.open(FACTS, "rt", encoding="utf-8") as file:
        found: list[dict[str, Any]] = json.load(file)
    return found


def matlab_net(stride: int) -> int:
    """Count the MATLAB net whose pooling has this ``stride``, on 512 positions of one channel."""
    front = ps.Sequential(
        *(ps.Conv1d(1, 20, 3), ps.Tanh(), ps.AvgPool1d(2, stride), ps.Conv1d(20, 10, 3), ps.Tanh(), ps.AvgPool1d(2, stride), ps.Flatten())
    )
    width = output_shape(front, (1, 1, 512))[1]
    return sum(layer.count for layer in (front, ps.Dense(width, 20), ps.Dense(20, 10), ps.Dense(10, 3)))


def alexnet(groups: int) -> ps.Layer:
    """Return the network of Krizhevsky et al. 2012, whose second, fourth and fifth convolutions are in two groups, or in one."""
    conv, pool, bent = ps.Conv2d, ps.MaxPool2d(3, 2), ps.ReLU()
    first = (conv(3, 96, 11, 4), bent, pool, conv(96, 256, 5, padding=2, groups=groups), bent, pool, conv(256, 384, 3, padding=1), bent)
    last = (conv(384, 384, 3, padding=1, groups=groups), bent, conv(384, 256, 3, padding=1, groups=groups), bent, pool, ps.Flatten())
    return ps.Sequential(*first, *last, ps.Dense(9216, 4096), bent, ps.Dense(4096, 4096), bent, ps.Dense(4096, 1000))


def volumes(name: str, image: tuple[int, ...]) -> int:
    """Return how many numbers the input, and the outputs of convolutions, poolings and matrices, have together."""
    rows = ps.summary(ps.load(name), image).rows
    return prod(image) + sum(prod(row[3][1:]) for row in rows if row[1] in {"Conv2d", "MaxPool2d", "Dense"})


def entries(name: str) -> int:
    """Return how many numbers Keras counts in a network: the statistics of the norms as well."""
    return int(ps.load(name).ledger(buffers=True).stored)


def refusal(build: Any, *sizes: int) -> str:
    """Return the library's message for impossible sizes of a layer."""
    try:
        build(*sizes)
    except ParamsymError as error:
        return str(error)
    return "it can be built."


def _names(item: dict[str, Any]) -> dict[str, Any]:
    helpers = {"ps": ps, "per": ps.per, "prod": prod, "output_shape": output_shape, "read": read}
    of_networks = {"alexnet": alexnet, "volumes": volumes, "entries": entries}
    return {**helpers, **of_networks, "matlab_net": matlab_net, "refusal": refusal, **_SIZES, **(item["symbols"] or {})}


def evaluate(call: str, item: dict[str, Any]) -> Any:
    """Evaluate one of the calls of ``items.py``, with the claim's sizes under their names."""
    return plain(eval(call, _names(item)))  # noqa: S307 - the calls are this page's own source


def layer_of(item: dict[str, Any], call: str = "") -> ps.Layer:
    """Return the layer of a claim, in letters."""
    letters = {name: ps.dims(name) for name in {*_SIZES, *"ABCDEFGHKLNPRSTVWYM", *(item["symbols"] or {})}}
    names = {"ps": ps, "per": ps.per, **letters}
    layer: ps.Layer = eval(call or COUNTS[item["id"]], names)  # noqa: S307 - likewise
    return layer


def sized(item: dict[str, Any], layer: ps.Layer) -> ps.Layer:
    """Return a layer at the claim's sizes."""
    given = {**_SIZES, **(item["symbols"] or {})}
    given |= {_RENAMED[name]: size for name, size in (item["symbols"] or {}).items() if name in _RENAMED and item["id"].startswith("S2")}
    if item["id"] in {"SUM-12", "SUM-13"}:
        given |= {"H": 1024, "F": 4096}
    if given["H"] == 1024:
        given["A"] = 16  # BERT large
    sizes = {symbol.name: given[symbol.name] for symbol in sorted(layer.symbols, key=str)}
    return layer.at(sizes) if sizes else layer


def claim_of(item: dict[str, Any]) -> Any:
    """Return what was claimed: a number, its arithmetic, or a layer."""
    literal = CLAIMS.get(item["id"])
    if literal is None:
        return item["claim_value"]
    return eval(literal, {}) if literal.startswith("'") else sized(item, layer_of(item, literal))  # noqa: S307 - likewise


def plain(value: Any) -> Any:
    """Return a result as JSON would hold it: lists, ints and floats."""
    if isinstance(value, tuple | list):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value
    return int(value)


def answer(question: str, item: dict[str, Any]) -> str:
    """Fill the braces of an answer, formulas typeset."""
    said = ast.parse(f'f"""{question}"""', mode="eval").body
    return "".join(_piece(piece, item) for piece in (said.values if isinstance(said, ast.JoinedStr) else [said]))


def _piece(piece: ast.expr, item: dict[str, Any]) -> str:
    if isinstance(piece, ast.FormattedValue):
        value = eval(ast.unparse(piece.value), _names(item))  # noqa: S307 - likewise
        if isinstance(value, Expr) and not value.is_number:
            return in_line(value)
    whole = ast.unparse(ast.JoinedStr([piece]))
    return _escaped(str(eval(whole, _names(item))))  # noqa: S307 - likewise


def in_line(value: Expr) -> str:
    """Return a formula for a line of Markdown."""
    return f"${formula_latex(value)}$"


def _escaped(words: str) -> str:
    """Keep asterisks from becoming emphasis."""
    return words.replace("*", r"\*")


def entry(item: dict[str, Any]) -> list[str]:
    """Return the Markdown of one claim: the claim, the verdict, and the calls with their results."""
    name = item["id"]
    lines = [f"### {_escaped(item['claim'])}", ""]
    if name in QUESTIONS:
        value, words = QUESTIONS[name]
        return [*lines, answer(words, item), "", *_calls([value, *_inside(words)], item)]
    about = f", about: {_escaped(item['architecture'])}" if item["architecture"] else ""
    lines.append(f"**{_VERDICTS[item['verdict']]}**{about}")
    lines.append("")
    if name in OUTSIDE:
        reason, call = OUTSIDE[name]
        lines.append(f"Outside the library: {reason}" + (f" `{call}` is {shown(evaluate(call, item))}." if call else ""))
    elif name in COUNTS:
        lines.extend(_counted(item))
    else:
        value = evaluate(VALUES[name], item)
        claimed = f" Claimed was {shown(item['claim_value'])}." if item["verdict"] == "wrong" else ""
        lines.append(f"`{written(VALUES[name])}` gives **{shown(value)}**{_where(VALUES[name], item)}.{claimed}")
    return [*lines, ""]


def network_entry(name: str) -> list[str]:
    """Return the Markdown of one claim about a network."""
    said = NETWORKS[name]
    lines = [f"### {_escaped(said.claim)}", "", f"**{said.verdict}**, from: {_escaped(said.source)}", ""]
    return [*lines, f"`{said.call}` gives {shown(evaluate(said.call, _PLAIN))}. {answer(said.words, _PLAIN)}", ""]


def _counted(item: dict[str, Any]) -> list[str]:
    layer = sized(item, layer_of(item))
    sizes = ", ".join(f"{symbol} = {size:,}" for symbol, size in sorted(layer.sizes.items(), key=lambda pair: pair[0].name))
    call = written(COUNTS[item["id"]])
    lines = [f"`{call}.params` is {in_line(layer.formula)}: **{layer.count:,}**" + (f" at {sizes}." if sizes else ".")]
    if item["claim_value"] is not None and item["claim_value"] != layer.count:
        claim = claim_of(item)
        found = ps.reconcile(layer, claim)
        sizes = f".at({', '.join(f'{symbol}={size}' for symbol, size in layer.sizes.items())})" if layer.sizes else ""
        asked = CLAIMS[item["id"]] if isinstance(claim, ps.Layer) else repr(claim)
        lines.extend(["", f"`ps.reconcile({call}{sizes}, {asked})` says:", ""])
        lines.extend(_shown_answer(found[i]) for i in range(min(3, len(found))))
    return lines


def _shown_answer(found: Answer) -> str:
    words = _escaped(found.words)
    return f"- {words}" if found.term == 0 else f"- `{str(found).partition(': ')[0]}`: {words}"


def _inside(words: str) -> list[str]:
    """Return the calls between the braces of an answer."""
    said = ast.parse(f'f"""{words}"""', mode="eval").body
    pieces = said.values if isinstance(said, ast.JoinedStr) else []
    return [ast.unparse(piece.value) for piece in pieces if isinstance(piece, ast.FormattedValue)]


def _calls(calls: list[str], item: dict[str, Any]) -> list[str]:
    """Show the calls of an answer, folded."""
    shown_calls = dict.fromkeys(written(call) for call in calls if "ps." in call or "(" in call)
    said = f"The calls{_where(f'({chr(44).join(calls)},)', item)}"
    return [f"<details><summary>{said}</summary>", "", "```py", *shown_calls, "```", "", "</details>", ""] if shown_calls else []


def _where(call: str, item: dict[str, Any]) -> str:
    """Return text with the values of the names in a call."""
    names = {node.id for node in ast.walk(ast.parse(call, mode="eval")) if isinstance(node, ast.Name)}
    given = {**_SIZES, **(item["symbols"] or {})}
    used = {name: given[name] for name in sorted(names) if name in given}
    return f", with {', '.join(f'{name} = {size:,}' for name, size in used.items())}" if used else ""


def written(call: str) -> str:
    """Write a call as a reader would type it: the page's own shorthand for public names written out."""
    plain_call = re.sub(r"read\((['\"])(.*?)(?: = .*?)?\1\)\.(?:stated|arithmetic)\.value", r"\2", call)
    return re.sub(r"(?<![\w.])(output_shape|per)\(", r"ps.\1(", plain_call)


def shown(value: Any) -> str:
    """Write a value with separators of thousands."""
    if isinstance(value, list):
        return f"({', '.join(map(shown, value))})"
    return f"{value:,}"


TOPICS = {
    "Sparse feed-forward networks": r"FastFeedForward",
    "Convolutions, shapes and neurons": r"Conv|matlab_net|Pool|BatchNorm",
    "An encoder with a decoder": r"EncoderDecoder",
    "Attention and its heads": r"MultiHeadAttention|DotProductAttention|per\(|num_attention_heads|HeadProjection",
    "BERT, part by part": r"Bert|Embedding|LayerNorm|FeedForward|read\(|ps\.Dense\(H, [HF]\)|ps\.Dense\(F, H\)",
    "Single layers": r"",
}
"""Topics, each with a pattern of its claims' calls; a claim has the first matching topic."""
_SHOWN = (
    "Attention and its heads",
    "BERT, part by part",
    "An encoder with a decoder",
    "Convolutions, shapes and neurons",
    "Sparse feed-forward networks",
    "Single layers",
    "Outside the library",
)
"""The order of the topics on the page."""
_OF_NETWORKS = "Networks that courses teach"
_ORDER = ("question", "wrong", "right_under_assumption", "right", "no_claim")


def topic(item: dict[str, Any]) -> str:
    """Return the topic of a claim, by the calls that check it."""
    name = item["id"]
    if name in OUTSIDE or QUESTIONS.get(name, ("", ""))[1].startswith("Outside"):
        return "Outside the library"
    calls = " ".join(QUESTIONS[name]) if name in QUESTIONS else COUNTS.get(name) or VALUES[name]
    return next(title for title, form in TOPICS.items() if re.search(form, calls))


def page() -> str:
    """Return the whole page."""
    found = items()
    head = [
        "# The gallery",
        "",
        "Claims about parameter counts, shapes and convolutions from public pages. A call into the library settles each claim; the page",
        "shows the call and its result. The claims are grouped by topic. Within a topic questions come first, then wrong claims, then",
        "right ones. The claims are quoted. Every other number is computed while this page is built. The examples begin with",
        "`import paramsym as ps` and `from paramsym import *`.",
        "",
    ]
    groups: dict[str, list[dict[str, Any]]] = {title: [] for title in _SHOWN}
    for item in sorted(found, key=lambda item: _ORDER.index(item["verdict"])):
        groups[topic(item)].append(item)
    head += [f"- [{_OF_NETWORKS}](#{_anchor(_OF_NETWORKS)}): {len(NETWORKS)} claims"]
    head += [f"- [{title}](#{_anchor(title)}): {len(some)} claims" for title, some in groups.items()] + [""]
    of_networks = [f"## {_OF_NETWORKS}", "", *(line for name in NETWORKS for line in network_entry(name))]
    body = [line for title, some in groups.items() for line in (f"## {title}", "", *(line for item in some for line in entry(item)))]
    helpers = (matlab_net, alexnet, volumes, entries, refusal)
    sources = [line for helper in helpers for line in ("```py", inspect.getsource(helper).strip(), "```", "")]
    last = ["## Helpers", "", "Some calls use these functions, and `prod` of `math`.", "", *sources]
    return "\n".join([*head, *of_networks, *body, *last])


def _anchor(title: str) -> str:
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


if __name__ == "__main__":
    (HERE / "index.md").write_text(page(), encoding="utf-8")
    sys.stdout.write(f"{len(items())} claims written to {HERE.name}/index.md\n")
