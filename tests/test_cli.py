"""The command line: what each command says, in which format, with which exit code; and what strangers and closed pipes do to it."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from inspect import signature
from pathlib import Path
from typing import get_args

import pytest
from amount import cases, tries
from hypothesis import HealthCheck, given, settings, strategies as st

import paramsym as ps
from paramsym.algebra.letters import LETTER_SETS
from paramsym.analysis import export
from paramsym.analysis.explain import explaining
from paramsym.atlas.files import record_of
from paramsym.cli import main
from paramsym.cli.arguments import FORMS, LANGUAGES, LETTERS, STYLES
from paramsym.cli.cost_options import OPTIONS, TAKES, spelled
from paramsym.cli.source import is_source, load
from paramsym.errors import ParamsymError
from paramsym.models import FAMILIES, model_types
from paramsym.naming import harmless
from paramsym.present import typeset
from paramsym.render import layout
from paramsym.render.table import Table

EXAMPLE = str(Path(__file__).parent.parent / "examples" / "bert-base-uncased")
BERT = "4*L*H**2 + 2*L*F*H + H**2 + L*F + 9*L*H + V*H + P*H + T*H + 3*H"
BERT_AS_DATA = "2*F*H*L + F*L + 4*H**2*L + H**2 + 9*H*L + H*P + H*T + H*V + 3*H"  # in JSON, expressions are written by SymPy
FORMATS = ("text", "latex", "markdown", "json", "html")
ONE_MODEL = (["formula"], ["count"], ["table"], ["explain", "A"], ["reconcile", "110M"], ["conventions"])


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of the usual width."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")


class Said:
    """What a run of the command line wrote and returned."""

    def __init__(self, code: int, out: str, err: str) -> None:
        """Keep the three."""
        self.code, self.out, self.err = code, out, err


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> object:
    """Run the command line inside this interpreter."""

    def running(*arguments: str) -> Said:
        code = main(list(arguments))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        assert captured.err.count("\n") <= 1, "a complaint is one line"
        return Said(code, captured.out, captured.err)

    return running


def refused(said: Said, words: str) -> None:
    """Check that a run ended with code 2, said nothing on its output and one line of these words on the other stream."""
    assert said.code == 2
    assert said.out == ""
    assert words in said.err


# What the commands say --------------------------------------------------------------------------------------------------------


def test_count(run) -> None:  # noqa: ANN001 - the fixture above
    """Digits and a line feed, from a directory, a file, a published size, and another class of the family."""
    for source in (EXAMPLE, f"{EXAMPLE}/config.json"):
        assert run("count", source).out == "109514298\n"
        assert run("count", source, "--architecture", "BertModel").out == "109482240\n"
    assert run("count", "bert-base-uncased").out == "109482240\n"
    assert run("count", "BERT-BASE-UNCASED").out == "109482240\n"
    assert run("count", "gpt2").out == "124439808\n"
    assert run("count", "meta-llama/Meta-Llama-3-8B").out == "8030261248\n"
    assert run("count", "Meta-Llama-3-8B").out == "8030261248\n"
    assert run("count", "resnet50").out == "25557032\n"


def test_count_of_sizes(run) -> None:  # noqa: ANN001
    """Sizes by letter, in terms of each other, and by the configuration's own keys."""
    large = ["V=30522", "P=512", "T=2", "H=1024", "A=16", "L=24", "F=4*H"]
    assert run("count", "bert", *(word for size in large for word in ("--set", size))).out == "335141888\n"
    assert run("count", "bert-base-uncased", "-s", "H=1024", "-s", "A=16", "-s", "L=2*L", "-s", "F=4*H").out == "335141888\n"
    keys = ["hidden_size=1024", "num_attention_heads=16", "num_hidden_layers=24", "intermediate_size=4*hidden_size"]
    assert run("count", EXAMPLE, "-a", "BertModel", *(word for size in keys for word in ("-s", size))).out == "335141888\n"
    assert run("count", EXAMPLE, "--set", "tie_word_embeddings=false").out == f"{109_514_298 + 30522 * 768 + 30522}\n"
    inner = run("count", "gpt2", "--set", "F=3*H")  # a letter that this model only has when its key is given
    assert int(inner.out) == 124_439_808 - 12 * (2 * 768 * 768 + 768)


def test_formula(run) -> None:  # noqa: ANN001
    """The closed form stands on the first line, the letters below it."""
    said = run("formula", EXAMPLE, "-a", "BertModel")
    assert said.out.startswith(BERT + "\n\nBertModel, with\n")
    assert "H          768  hidden size\n" in said.out
    assert run("formula", "bert").out.startswith(BERT + "\n")
    assert run("formula", "bert", "--set", "F=4*H").out.startswith("12*L*H**2 + H**2 + 13*L*H + V*H + P*H + T*H + 3*H\n")
    assert run("formula", "bert", "--format", "latex").out == ps.models.Bert().to_latex() + "\n"
    assert run("formula", "bert", "--format", "markdown").out == f"${ps.models.Bert().to_latex()}$\n"


def test_table(run) -> None:  # noqa: ANN001
    """Tensor by tensor, or part by part; with totals; as data."""
    said = run("table", "bert-base-uncased")
    assert "encoder.layer.{0..11}.intermediate.dense.bias" in said.out
    assert said.out.rstrip().endswith("109,482,240")
    assert run("table", "bert-base-uncased", "--depth", "1").out.count("\n") == 8
    rows = run("table", "bert", "--format", "csv").out.splitlines()
    assert rows[0] == "tensor,shape,copies,parameters"
    assert len(rows) == 1 + 23
    assert "token_type_ids" not in said.out
    assert "token_type_ids" in run("table", "bert-base-uncased", "--buffers").out


def test_explain(run) -> None:  # noqa: ANN001
    """The verdict first; either order of the arguments."""
    said = run("explain", "A", "bert-base-uncased")
    assert said.out.startswith("A (number of attention heads) cancels from the count of BertModel.")
    assert "3 * L*A*(H/A)*H = 3*L*H**2\n" in said.out
    assert "3 * 12*12*64*768 = 21,233,664\n" in said.out
    assert run("explain", "bert-base-uncased", "A").out == said.out
    assert run("explain", "A", "bert", "-f", "latex").out == ps.explain(ps.models.Bert(), "A").to_latex() + "\n"
    refused(run("explain", "Q", "bert"), "Bert has no symbol 'Q'; it has A, F, H, L, P, T, V.")
    for order in (("A", "attention"), ("attention", "A")):
        refused(run("explain", *order), "there is no file, family or published size 'attention'")


def test_reconcile(run) -> None:  # noqa: ANN001
    """Right and explained claims end with 0, others with 1; a claim is a number, words, arithmetic, a formula, or another model."""
    right = run("reconcile", "110M", "bert-base-uncased")
    assert (right.code, right.out) == (0, "110M is right: 109,482,240 to 2 significant digits\n")
    explained = run("reconcile", "109786368", "bert-base-uncased")
    assert explained.code == 0
    assert explained.out.startswith("+304128 = 3*L*H*(A - 1): the biases of query, key and value")
    assert run("reconcile", "bert-base-uncased", "109786368").out == explained.out
    wrong = run("reconcile", "109482241", "bert-base-uncased")
    assert (wrong.code, wrong.out) == (1, "no short explanation found for 109482241 against 109,482,240 of BertModel\n")
    assert run("reconcile", "12*L*H**2 + 13*L*H + (V + P + 2)*H", "gpt2").out == "124,439,808 is right\n"
    other = run("reconcile", "bert-base-cased", "bert-base-uncased")
    assert other.code == 0
    assert "-1171968 = " in other.out
    refused(run("reconcile", "many", "bert-base-uncased"), "the claim 'many' is not understood")
    refused(run("reconcile", "110M", "bert"), "bert leaves F, H, L, P, T, V open; put sizes in with --set F=... ")


def test_conventions(run) -> None:  # noqa: ANN001
    """Each way to count, one a row."""
    said = run("conventions", "gpt2")
    for words in ("stored", "163,037,184", "85,056,000", "without"):
        assert words in said.out


def test_families(run) -> None:  # noqa: ANN001
    """Every family; every class and published size of one."""
    said = run("families")
    assert all(f"\n{model_type} " in said.out for model_type in model_types())
    assert all(f"\n{cls} " in said.out for classes, types in FAMILIES.values() if not types for cls in classes.split())
    one = run("families", "bert").out
    assert "BertForMaskedLM" in one
    assert "bert-large-cased" in one
    assert "resnet152" in run("families", "ResNet").out
    assert run("families", "gpt2").out.startswith("gpt2: Gpt2\n")


def test_types_of_the_atlas_are_listed(run) -> None:  # noqa: ANN001
    """After the families; a type with refused classes only is not listed."""
    said = run("families").out
    assert "\nled " in said
    assert all(("\n" + model_type + " " in said) == bool(record_of(model_type)["classes"]) for model_type in ("led", "bit", "radio", "sam"))
    assert "LEDForConditionalGeneration" in run("families", "led").out
    assert run("families", "timm/resnet50").out.splitlines()[-1].split() == ["class", "ResNet"]


@pytest.mark.parametrize("command", ONE_MODEL, ids=lambda command: command[0])
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("source", ["gpt2", EXAMPLE])
def test_every_command_in_every_format(run, command: list[str], form: str, source: str) -> None:  # noqa: ANN001
    """Each writes each, and text fits into eighty columns."""
    said = run(*command, source, "--format", form)
    assert said.code == int(command[0] == "reconcile" and source == "gpt2")  # which has 124M
    assert said.err == ""
    if form == "json":
        assert isinstance(json.loads(said.out), dict)
    elif form == "text":
        assert max(map(len, said.out.splitlines())) <= 80
    elif form == "html":
        assert said.out.startswith("<")


@cases(6)
@pytest.mark.parametrize("name", ["bert", "resnet", "lenet", "encoder_decoder", "vit", "densenet"])
@pytest.mark.parametrize("command", ["formula", "table", "conventions"])
def test_symbolic_families_in_eighty_columns(run, name: str, command: str) -> None:  # noqa: ANN001
    """Formulas are broken before a sign, cells between words; names stay whole or are broken at a dot."""
    said = run(command, name)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80


DESIGNS = (
    ["compare", "gpt2", "gpt2-medium"],
    ["compare", "gpt2", "bert", "--of", "flops"],
    ["sweep", "gpt2", "--over", "L=12,24", "--over", "A=4..12:4"],
    ["solve", "<= 355M", "gpt2", "--over", "L=1..24", "--best", "3"],
)


@pytest.mark.parametrize("form", [*FORMATS, "csv"])
@pytest.mark.parametrize("command", DESIGNS, ids=" ".join)
def test_designs_in_every_format(run, command: list[str], form: str) -> None:  # noqa: ANN001
    """Two models, several sizes, the sizes for a number; text fits into eighty columns."""
    said = run(*command, "--format", form)
    assert (said.code, said.err) == (0, "")
    if form == "json":
        json.loads(said.out)
    elif form == "text":
        assert max(map(len, said.out.splitlines())) <= 80


def test_designs_give_what_python_gives(run) -> None:  # noqa: ANN001
    """The differences, the counts, the code."""
    assert "230,383,360" in run("compare", "gpt2", "gpt2-medium").out
    rows = run("sweep", "gpt2", "--over", "L=12,24", "--format", "csv").out.split()
    assert rows[1:] == [f"{layers},{ps.load('gpt2').at(L=layers).count}" for layers in (12, 24)]
    assert run("solve", "gpt2", "350M", "--over", "L=1..48").out == run("solve", "350M", "gpt2", "--over", "L=1..48").out
    assert "354,823,168" in run("solve", "354823168", "gpt2", "--over", "H=64..2048:64", "--over", "L=1..48", "--set", "A=16").out
    scope: dict[str, object] = {}
    exec(run("export", "gpt2").out, scope)  # noqa: S102 - what is tested is that the code runs
    assert scope["params"](A=12, H=768, L=12, P=1024, V=50257) == 124_439_808  # type: ignore[operator]
    assert run("latex", "gpt2").out == run("formula", "gpt2", "--format", "latex").out


def test_latex_in_the_letters_of_a_paper(run) -> None:  # noqa: ANN001
    """What ``to_latex`` offers in Python: letters, forms, parts, a whole document; of a cost, too."""
    gpt2 = ps.load("gpt2").origin[0]
    assert run("latex", "gpt2", "--letters", "megatron", "--form", "factored").out == gpt2.to_latex("factored", letters="megatron") + "\n"
    assert run("latex", "gpt2", "--letters", "H=d,L=n", "--form", "parts", "-d", "1").out == (
        gpt2.to_latex("parts", letters={"H": "d", "L": "n"}, depth=1) + "\n"
    )
    assert run("latex", "gpt2", "--form", "collected", "--by", "H").out == gpt2.to_latex("collected", by="H") + "\n"
    assert run("latex", "bert-base-uncased", "--form", "steps").out == ps.load("bert-base-uncased").to_latex("steps") + "\n"
    assert run("latex", "bert", "--of", "flops", "--letters", "kaplan").out == ps.flops(ps.models.Bert()).to_latex(letters="kaplan") + "\n"
    assert run("latex", "gpt2", "--standalone").out.startswith("\\documentclass")
    refused(run("latex", "gpt2", "--letters", "kapla"), "wanted one of bert, vaswani, kaplan")
    table = run("table", "bert", "--depth", "1", "--format", "latex", "--letters", "vaswani").out
    assert table == ps.models.Bert().table(1, letters="vaswani").to_latex() + "\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--over", "Q=3"], "--over: there is no size 'Q'; there are A, H, L, P, V"),
        (["--over", "H=9..3"], "--over: 9..3 is no range"),
        (["--over", "H=1..9:0"], "--over: 1..9:0 is no range"),
        (["--over", "H=3", "--over", "H=4"], "--over: H is given twice"),
        (["--over", "H"], "is not an assignment"),
        ([], "the following arguments are required: --over"),
    ],
)
def test_bad_candidates_are_refused(run, given: list[str], said: str) -> None:  # noqa: ANN001
    """By one line that says what to write."""
    found = run("sweep", "gpt2", *given)
    assert found.code == 2
    assert said in found.err


def test_a_page_is_written(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    """Into the named file; without one into a temporary file, whose path is said, whether or not there is a browser."""
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    assert run("explore", "lenet", "-o", str(tmp_path / "page.html")).out == f"{tmp_path / 'page.html'}\n"
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert Path(run("explore", "lenet").out.strip()).is_file()
    assert Path(run("explore", "lenet", "alexnet").out.strip()).is_file()
    assert "one model, or two" in run("explore", "lenet", "alexnet", "vgg16").err
    assert "cannot be written" in run("explore", "lenet", "-o", str(tmp_path / "none" / "page.html")).err


def test_json(run) -> None:  # noqa: ANN001
    """Exact numbers, formulas as strings, everything a script could ask for."""
    found = json.loads(run("count", "bert-base-uncased", "--format", "json").out)
    assert found["count"] == 109_482_240
    assert found["formula"] == BERT_AS_DATA
    assert found["sizes"] == {"V": 30522, "H": 768, "L": 12, "A": 12, "F": 3072, "P": 512, "T": 2}
    assert found["letters"]["A"] == "number of attention heads"
    assert found["architecture"] == "BertModel"
    assert json.loads(run("formula", "bert", "--format", "json").out)["count"] is None
    huge = json.loads(run("count", "bert-base-uncased", "-s", "V=2**62", "-s", "H=12*2**40", "-f", "json").out)
    assert huge["count"] > 2**100
    tensors = json.loads(run("table", "gpt2", "-f", "json").out)["tensors"]
    assert sum(one["amount"] or 0 for one in tensors) == 124_439_808
    assert [one["tied_to"] for one in tensors if one["tied_to"]] == ["transformer.wte.weight"]
    parts = json.loads(run("table", "gpt2", "-f", "json", "-d", "1").out)
    assert parts["total"]["parameters"] == 124_439_808
    why = json.loads(run("explain", "A", "gpt2", "-f", "json").out)
    assert (why["cancels"], why["derivative"]) == (True, 0)
    claim = json.loads(run("reconcile", "109786368", "bert-base-uncased", "-f", "json").out)
    assert claim["answers"][0]["difference"] == 304_128
    assert claim["answers"][0]["term"] == "3*A*H*L - 3*H*L"
    ways = json.loads(run("conventions", "gpt2", "-f", "json").out)["conventions"]
    assert {way["name"]: way["parameters"] for way in ways}["rows as listed"] == 163_037_184


# What is wrong ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["abacus"], "invalid choice: 'abacus'"),
        (["count"], "the following arguments are required: SOURCE"),
        (["flops", "gpt2", "--input", "1,8"], "unrecognized arguments: --input 1,8 (see paramsym flops --help)"),
        (["count", "bert", "--format", "csv"], "invalid choice: 'csv'"),
        (["table", "bert", "--depth", "0"], "argument -d/--depth: '0'"),
        (["table", "bert", "--depth", "9" * 5000], "argument -d/--depth: '9999"),
        (["count", "berd"], "there is no file, family or published size 'berd'; write the path of its config.json, from which"),
        (["count", "berdd"], "did you mean bert"),
        (["count", "x" * 100_000], "there is no file, family or published size 'xxx"),
        (["count", "a\0b"], "'a\\x00b'"),
        (["count", "/"], "'/' contains no config.json"),
        (["count", "nothing.json"], "there is no file or directory 'nothing.json'"),
        (["count", "/dev/null"], "there is no file or directory '/dev/null'"),
        (["count", "bert"], "bert leaves F, H, L, P, T, V open"),
        (["count", "bert-base-uncased", "-s", "H"], "'H' is not an assignment; write NAME=VALUE"),
        (["count", "bert-base-uncased", "-s", "Q=1"], "--set: BertModel has no size 'Q'; it has A, F, H, L, P, T, V"),
        (["count", "bert-base-uncased", "-s", "hiden_size=1"], "the keys of its configuration. Did you mean hidden_size?"),
        (["count", "bert-base-uncased", "-s", "H=770"], "hidden_size 770 is not divisible by num_attention_heads 12"),
        (["count", "bert-base-uncased", "-s", "H=0"], "hidden_size is 0; wanted a positive whole number"),
        (["count", "bert-base-uncased", "-s", "H=1.5"], "at character 2, found '.'"),
        (["count", "bert-base-uncased", "-s", "H=__import__('os')"], "there is no size '__import__'"),
        (["count", "bert-base-uncased", "-s", "H=9**99"], "an exponent is a whole number from 0 to 64"),
        (["count", "bert-base-uncased", "-s", "H=F", "-s", "F=H"], "F and H"),
        (["count", "bert-base-uncased", "-s", "H=24", "-s", "H=36"], "H is given twice, as 24 and 36"),
        (["count", "bert-base-uncased", "-s", "hidden_size=null"], "hidden_size is null"),
        (["count", "bert-base-uncased", "-s", "hidden_size=H"], "there is no size 'H'"),
        (["count", "bert-base-uncased", "-a", "AbacusModel"], "architecture 'AbacusModel' is not one of bert's"),
        (["count", "bert", "--set=--"], ""),
        (["count", "bert", "--format=--"], ""),
        (["count", "gpt2", "--architecture=--"], ""),
        (["count", "resnet50", "-a", "ResNetModel"], "ResNet has one architecture only"),
        (["families", "abacus"], "there is no file, family or published size 'abacus'"),
        (["check", "/nowhere"], "there is no file or directory"),
    ],
    ids=lambda value: " ".join(value)[:50] if isinstance(value, list) else "",
)
def test_wrong_input(run, arguments: list[str], words: str) -> None:  # noqa: ANN001
    """One line that says what was found and what was wanted; code 2."""
    said = run(*arguments)
    refused(said, words)
    assert len(said.err) < 1600


def test_unknown_keys(run, tmp_path: Path) -> None:  # noqa: ANN001
    """A warning is a line on the other stream and changes no code; --strict refuses."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "bert", "aba\x1bcus": 3}))
    said = run("count", str(path))
    assert (said.code, said.out) == (0, "109482240\n")
    assert said.err.startswith("paramsym count: warning: config keys that bert does not know were not taken into account: ")
    assert "\x1b" not in said.err
    refused(run("count", str(path), "--strict"), "bert does not know these config keys")


def test_a_million_layers(run, tmp_path: Path) -> None:  # noqa: ANN001
    """A configuration cannot make a command write out what it repeats."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "gpt2", "n_layer": 10**12, "architectures": ["GPT2LMHeadModel"]}))
    for command in ONE_MODEL[:-2]:
        for form in ("text", "json"):
            assert run(*command, str(path), "-f", form).code == 0
    refused(run("check", str(path)), "the configuration asks for 16,000,000,000,005 tensors")


def test_a_bug_is_one_line(run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    """Whatever breaks inside, nobody sees the inside."""
    from paramsym.cli import commands

    def broken(_: object) -> None:
        message = "a\nb"
        raise KeyError(message)

    monkeypatch.setitem(commands._COMMANDS, "count", broken)
    refused(run("count", "bert"), "this is a bug in paramsym, please report it: KeyError: 'a\\nb'")
    monkeypatch.setitem(commands._COMMANDS, "count", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    assert run("count", "bert").code == 130


@settings(max_examples=tries(150), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["formula", "count", "table"]),
    st.sampled_from(["bert", "gpt2", "bert-base-uncased", EXAMPLE]),
    st.text("HFAVLPT0123456789+-*/()=_ \x1b\u202e", min_size=1, max_size=20),
)
def test_any_size(capsys: pytest.CaptureFixture[str], command: str, source: str, text: str) -> None:
    """Any string after --set gives an answer or one line."""
    code = main([command, source, f"--set={text}"])
    said = capsys.readouterr()
    assert code in {0, 2}
    assert (code == 0) == (said.err == "")
    assert "\x1b" not in said.out + said.err
    assert "bug" not in said.err


def test_questions_about_costs(run) -> None:  # noqa: ANN001
    """What is explained and reconciled of parameters is so of costs."""
    assert "the derivative is 9*L*B*S**2" in run("explain", "A", "gpt2", "--of", "activations").out
    assert "cancels from the FLOPs" in run("explain", "A", "gpt2", "--of", "flops", "-b", "1").out
    found = run("reconcile", "4.1 GFLOPs", "resnet50", "--of", "flops", "-b", "1", "--side", "224")
    assert found.code == 0
    assert "counted as multiply-adds" in found.out
    cache = run("reconcile", "2.1 GB", "meta-llama/Llama-2-7b-hf", "--of", "cache", "-b", "1", "-n", "4096", "--dtype", "float16")
    assert "2.1 GB is right" in cache.out
    refused(run("reconcile", "12", "gpt2", "--of", "cache", "--way", "both"), "cache takes no --way.")
    refused(run("flops", "resnet18", "--side", "225"), "--side is 225; an image of ResNet has a multiple of 32 pixels along each side.")


def test_costs(run) -> None:  # noqa: ANN001
    """Work, activations, caches and memory: in letters, with sizes, by part; 2*G/A*H numbers of cache per layer and position."""
    assert "32,938,104,193,024 FLOPs" in run("flops", "meta-llama/Meta-Llama-3-8B", "--batch", "1", "--positions", "2048").out
    assert "4*L*H*B*S**2" in run("flops", "llama").out
    assert "(megatron)" in run("flops", "gpt2", "--way", "both", "--convention", "megatron").out
    cache = run("cache", "meta-llama/Llama-2-70b-hf", "-b", "1", "-n", "4096", "--dtype", "float16", "-f", "json")
    assert json.loads(cache.out)["total"]["bytes"] == 2 * 2 * 8 * 128 * 80 * 4096
    assert "weights" in run("memory", "huggyllama/llama-7b", "-b", "1", "-n", "8", "--inference").out
    assert "16384*B*S" in run("activations", "huggyllama/llama-7b", "-d", "2").out
    assert "float16" in run("memory", "llama", "--dtype", "float31").err


def test_every_option_of_a_cost() -> None:
    """A command takes the keyword arguments of its function; the sizes of inputs are options of every command."""
    for command, taken in TAKES.items():
        ask = getattr(ps, {"cache": "kv_cache"}.get(command, command))
        keywords = [name for name, one in signature(ask).parameters.items() if one.kind is one.KEYWORD_ONLY]
        more = {"memory": {"use"}, "intensity": {"machine"}}.get(command, set())  # --inference; the machine of ``Intensity.on``
        assert set(taken) ^ set(keywords) == more
        assert set(taken) <= set(OPTIONS)


def test_every_word_of_an_option() -> None:
    """The words that the shell takes are those of the functions, which the help cannot import."""
    assert get_args(export.Language) == LANGUAGES
    assert tuple(explaining.STYLES) == STYLES
    assert typeset.FORMS == FORMS
    assert tuple(one.name for one in LETTER_SETS) == LETTERS


def test_options_of_costs(run) -> None:  # noqa: ANN001
    """The shell gives the same answer as Python."""
    model = ps.load("gpt2")
    asked = (
        *("memory", "gpt2", "-b", "8", "-n", "1024", "--dtype", "bfloat16", "--gradients", "float32", "--optimizer", "adafactor"),
        *("--zero", "1", "--devices", "8", "--recompute", "full", "--tensor", "2", "--sequence", "--no-master"),
        *("--loss", "none", "-f", "json"),
    )
    how = {"dtype": "bfloat16", "gradients": "float32", "optimizer": "adafactor", "zero": 1, "devices": 8, "recompute": "full"}
    held = ps.memory(model, (8, 1024), tensor=2, sequence=True, master=False, loss=False, **how)
    assert json.loads(run(*asked).out)["total"]["bytes"] == str(held.total) == "1785983569/2"
    kept = run("activations", "gpt2", "-b", "8", "-n", "64", "--convention", "torch-sdpa", "--input-gradients", "-f", "json")
    assert json.loads(kept.out)["total"]["bytes"] == ps.activations(model, (8, 64), convention="torch-sdpa", input_gradients=True).total
    step = run("traffic", "gpt2", "-b", "1", "-n", "1", "--past", "1023", "--dtype", "float32", "-f", "json")
    assert json.loads(step.out)["total"]["bytes"] == ps.traffic(model, (1, 1), past=1023, dtype="float32").total
    sent = run("communication", "gpt2", "-b", "1", "-n", "64", "--sharing", "tensor", "--devices", "4", "-f", "json")
    assert json.loads(sent.out)["total"]["bytes"] == ps.communication(model, (1, 64), sharing="tensor", devices=4).total


def test_intensity_and_training(run) -> None:  # noqa: ANN001
    """FLOPs per byte, and the limit of a machine; FLOPs and days of a run."""
    model = ps.load("gpt2")
    assert ps.intensity(model, (8, 1), past=1023).on("h100").bound == "memory"
    said = run("intensity", "gpt2", "-b", "8", "-n", "1", "--past", "1023", "--machine", "h100").out
    assert "on h100: memory-bound" in " ".join(said.split())
    assert "FLOPs per byte" in run("intensity", "gpt2").out
    refused(run("intensity", "gpt2", "--machine", "h100"), "--machine needs numbers, but B, S have no size;")
    took = ps.training(model, (1, 1024), tokens=3 * 10**11, devices=64, machine="a100", utilisation="50 %")
    asked = ("training", "gpt2", "-b", "1", "-n", "1024", "--tokens", "0.3T", "--devices", "64", "--machine", "a100")
    assert f"{float(took.days):.4g}" in run(*asked, "--utilisation", "50 %").out
    refused(run("training", "gpt2", "--tokens", "1.5"), "is not a whole number; write it as 300000, 300B or 1.4T")
    refused(run("training", "gpt2", "--tokens", "many"), "is not a whole number; write it as 300000, 300B or 1.4T")
    refused(run("training", "gpt2"), "required: --tokens")
    refused(run("memory", "gpt2", "--tensor", "0"), "found '0'; wanted a whole number, 1 or more")
    refused(run("cache", "gpt2", "--past", "-1"), "found '-1'; wanted a whole number, 0 or more")
    refused(run("communication", "gpt2"), "communication needs the number of devices; give --devices.")
    refused(run("explain", "A", "gpt2", "--of", "flops", "--inference"), "flops takes no --inference.")
    refused(run("explain", "A", "gpt2", "--of", "cache", "--input-gradients"), "cache takes no --input-gradients.")


def test_claims_together(run) -> None:  # noqa: ANN001
    """The rows of a table: one term for all rows, or the answer to each row alone."""
    rows = ("109786368", "bert-base-uncased", "336247808", "bert-large-uncased")
    assert run("reconcile", *rows).out.startswith("in both rows: 3*L*H*(A - 1): the biases of query, key and value")
    found = json.loads(run("reconcile", *rows, "-f", "json").out)
    assert [row["row"] for row in found["rows"]] == ["bert-base-uncased", "bert-large-uncased"]
    assert found["answers"][0]["term"] == "3*A*H*L - 3*H*L"
    alone = run("reconcile", "124M", "gpt2", "17", "gpt2-medium")
    assert alone.code == 1
    assert "gpt2: 124M is right" in alone.out
    costs = run("reconcile", "1.81 GMACs", "resnet18", "4.09 GMACs", "resnet50", "--of", "flops", "-b", "1", "--side", "224")
    assert costs.out == "in both rows: the count is right\n"
    refused(run("reconcile", "124M", "gpt2", "355M"), "there is a claim without a source, or a source without a claim: '355M'")


# Help -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command", ["", "formula", "count", "table", "explain", "reconcile", "conventions", "flops", "memory", "check", "families"]
)
def test_help(run, command: str) -> None:  # noqa: ANN001
    """Examples, in eighty columns."""
    said = run(*command.split(), "--help")
    assert said.code == 0
    assert "example" in said.out
    assert max(map(len, said.out.splitlines())) <= 80


@cases(0)
def test_examples_in_the_help_work(run) -> None:  # noqa: ANN001
    """Each example on names that needs no file runs as it stands."""
    ran = 0
    for command in ("", "formula", "count", "table", "explain", "reconcile", "conventions", *TAKES, "families"):
        shown = re.sub(r" *\\\n *", " ", run(*command.split(), "--help").out)
        for line in shown.splitlines():
            words = shlex.split(line.strip().partition("    ")[0]) if line.startswith("  paramsym ") else []
            if words and not any("config.json" in word or "checkpoint" in word or word == ">" for word in words):
                assert run(*words[1:]).code == 0, line
                ran += 1
    assert ran > 8


def test_version(run) -> None:  # noqa: ANN001
    """The version alone."""
    assert run("--version").out == f"paramsym {ps.__version__}\n"


# Streams ----------------------------------------------------------------------------------------------------------------------


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of the shell with ``paramsym`` as a command."""
    line = line.replace("paramsym ", f"{sys.executable} -m paramsym ")
    there = {**os.environ, "PYTHONPATH": str(Path(ps.__file__).parents[1]), **environment}
    return subprocess.run(
        ["/usr/bin/env", "bash", "-o", "pipefail", "-c", line], capture_output=True, text=True, env=there, timeout=120, check=False
    )


CLOSED = [
    ("paramsym count gpt2 | true", 0, ""),
    ("paramsym count gpt2 <&- >&- 2>&-", 0, ""),
    ("paramsym count - <&-", 2, "paramsym count: error: standard input is closed; give the path of a config.json.\n"),
    ("paramsym count - <&- >&- 2>&-", 2, ""),
    ("paramsym count gpt2 > /dev/full", 2, "paramsym count: error: OSError: [Errno 28] No space left on device\n"),
]


@cases(0)
@pytest.mark.parametrize(("line", "code", "words"), CLOSED)
def test_closed_streams(line: str, code: int, words: str) -> None:
    """A reader that has seen enough, closed streams, a full disk: no traceback, and a code that says what happened."""
    if "/dev/full" in line and not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    done = shell(line)
    assert (done.returncode, done.stderr) == (code, words)


@cases(0)
def test_standard_input() -> None:
    """A configuration can come through a pipe; what is wrong with it is one line."""
    assert shell('echo \'{"model_type": "gpt2"}\' | paramsym count -').stdout == "124439808\n"
    done = shell("echo '{' | paramsym count -")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("paramsym count: error: standard input is not JSON: line ")
    assert "Traceback" not in shell("head -c 99 /dev/urandom | paramsym count -").stderr


def test_standard_input_inside(run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    """The same where a program has put something else instead of standard input."""
    monkeypatch.setattr(sys, "stdin", io.StringIO('{"model_type": "gpt2"}'))
    assert run("count", "-").out == "124439808\n"
    monkeypatch.setattr(sys, "stdin", None)
    refused(run("count", "-"), "standard input is closed")


def test_no_closed_stream_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without any stream the exit code still answers."""
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert main(["count", "gpt2"]) == 0
    assert main(["count", "nothing"]) == 2


class _Pipe(io.StringIO):
    """A pipe that nobody reads."""

    def write(self, _: str) -> int:
        raise BrokenPipeError


def test_broken_pipe_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    """What head does, seen from inside."""
    monkeypatch.setattr(sys, "stdout", _Pipe())
    assert main(["count", "gpt2"]) == 0


class _Terminal(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


def test_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal only, and not where NO_COLOR is set or the terminal is dumb."""

    def said(*arguments: str) -> str:
        out, err = _Terminal(), _Terminal()
        monkeypatch.setattr(sys, "stdout", out)
        monkeypatch.setattr(sys, "stderr", err)
        main(list(arguments))
        return out.getvalue() + err.getvalue()

    for arguments in (("explain", "A", "gpt2"), ("count", "nothing")):
        assert "\x1b[" in said(*arguments)
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in said(*arguments)
        monkeypatch.delenv("NO_COLOR")
        monkeypatch.setenv("TERM", "dumb")
        assert "\x1b" not in said(*arguments)
        monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" not in said("explain", "A", "gpt2", "--format", "json")


@cases(0)
def test_an_ascii_terminal() -> None:
    """What an encoding does not have is spelt out."""
    done = shell("paramsym count $'\\uff28'", PYTHONIOENCODING="ascii:strict", PYTHONUTF8="0")
    assert done.returncode == 2
    assert "\\uff28" in done.stderr


def test_narrow_and_wide(run, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN001
    """The terminal's own width counts; a name is broken if the table then fits, and nothing is cut where it is too narrow."""
    monkeypatch.setenv("COLUMNS", "200")
    assert "encoder.layer.{0..11}.attention.self.query.weight " in run("table", "bert-base-uncased").out
    for columns in ("1", "30", "55"):
        monkeypatch.setenv("COLUMNS", columns)
        words = run("table", "bert-base-uncased").out
        for name in ps.models.Bert().at("bert-base-uncased").table().rows:
            for step in re.split(r"[._]" if columns == "55" else r"\.", str(name[0])):
                assert step in words
        assert columns != "55" or max(map(len, words.splitlines())) <= 55


@cases(0)
def test_nothing_heavy_for_help() -> None:
    """No SymPy until a command needs it, and no framework at all."""
    code = "import sys, paramsym.cli; paramsym.cli.main(['--help']); print('LOADED', *sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ps.__file__).parents[1]
    ).stdout
    assert "sympy" not in loaded.split("LOADED")[1].split()
    code = "import sys, paramsym.cli; paramsym.cli.main(['count', 'gpt2']); print('LOADED', *sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(ps.__file__).parents[1]
    ).stdout
    modules = set(loaded.split("LOADED")[1].split())
    assert not modules & {"torch", "transformers", "numpy", "safetensors", "paramsym.models.vit", "paramsym.models.t5"}


# Pieces -----------------------------------------------------------------------------------------------------------------------


def test_names_and_sources() -> None:
    """Files go before names; a class's name means the family where its size has the same name."""
    assert load("Gpt2").symbols
    assert load("gpt2").count == 124_439_808
    assert not is_source("12*L*H")
    assert is_source("xlm_roberta") == ("xlm-roberta" in model_types())
    with pytest.raises(ParamsymError, match="did you mean bert-base-uncased"):
        load("bert-base-unc")


@cases(20)
@pytest.mark.parametrize("home", sorted(FAMILIES))
def test_every_published_size_loads(home: str) -> None:
    """Each published size of each family is the class of its first published count, with its labels and heads, and has that count."""
    from importlib import import_module

    module = import_module(f"paramsym.models.{home}")
    for cls in FAMILIES[home][0].split():
        model = getattr(module, cls)
        claims = {claim.name: claim for claim in reversed(getattr(model, "claims", ())) if claim.counts.isidentifier()}
        for name in model.published if claims else ():
            loaded, claim = load(name), claims[name]
            assert loaded.count == claim.count - claim.besides, name
            assert getattr(loaded, "architecture", claim.counts) == claim.counts


def test_layout() -> None:
    """Formulas break before signs, tables in cells; a thing that cannot be broken stays whole."""
    assert layout.formula("a + b - c = d", 5, rest="  ") == "a + b\n  - c\n  = d"
    assert layout.formula("abcdefgh + b", 4) == "abcdefgh\n+ b"
    wide = Table(("name", "words"), (("a.b.c", "one two three"), ("x", None)), ("total", "four"), "head")
    assert layout.table(wide, 80) == wide.to_text()
    assert layout.table(wide, 14) == "head\nname   words\n--------------\na.b.c  one two\n         three\nx\n--------------\ntotal  four"
    assert "indivisible" in layout.table(Table(("a",), (("indivisible",),)), 3)


def test_harmless() -> None:
    """Nothing from a file can steer the terminal."""
    assert harmless("a\x1b[31mb\r\x07\u202ec\ud800") == "a\\x1b[31mb\\r\\x07\\u202ec\\ud800"
    assert harmless("Größe H²\n") == "Größe H²\n"


# The pages --------------------------------------------------------------------------------------------------------------------

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "how-to" / "command-line.md"


def commands_on(page: Path) -> list[tuple[str, str]]:
    """Return every command that a page shows, with what it says below."""
    found = []
    for block in re.findall(r"^```console\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, said = shown.partition("\n")
            found.append((command, said))
    return found


@pytest.mark.parametrize(
    ("command", "shown"), [*commands_on(ROOT / "README.md"), *commands_on(PAGE)], ids=lambda text: text.partition("\n")[0]
)
def test_the_pages(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, shown: str) -> None:  # noqa: ANN001
    """What the README and the page show is what a reader gets, in a directory with BERT's config.json and a small checkpoint."""
    (tmp_path / "config.json").write_bytes((Path(EXAMPLE) / "config.json").read_bytes())
    if "check" in command.split()[1]:
        numpy = pytest.importorskip("numpy")
        save_file = pytest.importorskip("safetensors.numpy", reason="the page reads a safetensors file").save_file
        small = {"model_type": "bert", "vocab_size": 30, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
        small |= {"intermediate_size": 64, "max_position_embeddings": 8, "architectures": ["BertForMaskedLM"]}
        there = ps.from_config(small, "BertForPreTraining").shapes()
        (tmp_path / "checkpoint").mkdir()
        (tmp_path / "checkpoint" / "config.json").write_text(json.dumps(small))
        zeros = {name: numpy.zeros(shape, dtype="float16") for name, shape in there.items()}
        save_file(zeros, tmp_path / "checkpoint" / "model.safetensors")
    monkeypatch.chdir(tmp_path)
    said = run(*shlex.split(command)[1:])
    assert said.out + said.err == shown


def test_the_page_shows_every_command() -> None:
    """Nothing is left out."""
    run = {command.split()[1] for command, _ in commands_on(PAGE)}
    assert run >= {"formula", "count", "table", "explain", "reconcile", "check", "memory", "intensity", "training", "communication"}
    page = PAGE.read_text(encoding="utf-8")
    for command, taken in TAKES.items():
        (row,) = re.findall(rf"^\| `{command}` \| (.*) \|$", page, re.MULTILINE)
        assert set(re.findall(r"`--([a-z-]+)`", row)) == {spelled(one) for one in taken} | ({"inference"} if command == "memory" else set())
