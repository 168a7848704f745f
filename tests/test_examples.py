"""Every example runs in a fresh interpreter and prints what it is there for."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from amount import cases

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
NOTEBOOKS = Path(__file__).parents[1] / "examples"
SHOWS = {
    "audit_a_claim.py": ["109,786,368", "3*L*H*(A - 1)", "built with add_pooling_layer=False"],
    "cs231n_volumes.py": ["290,400 neurons", "34,944 parameters", "105,705,600 parameters", "F^{2} D K + K"],
    "densenet_polynomial.py": ["2*g**2 + g per n**2", "DenseNet-121: 7,978,856", "DenseNet-161: 28,681,000"],
    "latex_handout.py": ["lines of LaTeX"],
    "lenet5.py": ["Trainable in 1998: 60,000", "In frameworks today: 61,706"],
    "test_a_counter.py": ["proven for  every valid size", "Refuted:", "at A=2, G=1, H=2"],
    "bert_from_config.py": ["109,482,240", "2*F*H*L + F*L + 4*H**2*L", "cancels from the count of Bert", r"\begin{align*}", r"4 L H^{2}"],
    "why_heads_cancel.py": ["4*H**2 + 4*H", "cancels", "changes the count", "-2*G*H**2/A**2"],
    "write_your_own_layer.py": ["50,744 parameters", "786 is not divisible by heads 12"],
}


@cases(0)
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_example(example: Path, tmp_path: Path) -> None:
    """From any directory, without warnings, with the words that make its point."""
    command = [sys.executable, "-W", "error", str(example)]
    shown = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, env=_environment(example))
    assert shown.returncode == 0, shown.stderr
    assert shown.stderr == ""
    for words in SHOWS.get(example.name, []):
        assert words in shown.stdout
    if example.name == "latex_handout.py":  # stays where it was written
        assert (tmp_path / "handout.tex").read_text(encoding="utf-8").endswith("\\end{document}\n")


def test_there_are_examples() -> None:
    """The ones whose words are checked exist."""
    assert set(SHOWS) <= {example.name for example in EXAMPLES}


@cases(0)
@pytest.mark.parametrize("notebook", ["counting_a_transformer", "from_parameters_to_a_training_run"])
def test_a_notebook_shows_what_it_stores(notebook: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Every cell, run in order, prints and shows the stored text."""
    _run_notebook(notebook, capsys)


def test_a_notebook_that_reads_a_module(capsys: pytest.CaptureFixture[str]) -> None:
    """The same where PyTorch is installed; the page with sliders is stored in the cell."""
    pytest.importorskip("torch")
    _run_notebook("reading_somebodys_model", capsys)


def test_every_notebook_is_run() -> None:
    """No notebook is left out, and none stores an error or a path of the machine that ran it."""
    found = {path.stem: path.read_text(encoding="utf-8") for path in NOTEBOOKS.glob("*.ipynb")}
    assert set(found) == {"counting_a_transformer", "from_parameters_to_a_training_run", "reading_somebodys_model"}
    assert not any(word in text for text in found.values() for word in ('"error"', "Traceback", "site-packages", "/home/"))
    assert "<iframe srcdoc=" in found["reading_somebodys_model"]


def _run_notebook(notebook: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    for cell in json.loads((NOTEBOOKS / f"{notebook}.ipynb").read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            code = ast.parse("".join(cell["source"]))
            last = [ast.Expression(code.body.pop().value)] if isinstance(code.body[-1], ast.Expr) else []
            exec(compile(code, notebook, "exec"), names)  # noqa: S102 - the hand-out is ours
            value = [eval(compile(one, notebook, "eval"), names) for one in last]
            shown = "".join(f"{one!r}" for one in value if one is not None)
            assert capsys.readouterr().out + shown == "".join(_stored(output) for output in cell["outputs"])


def _stored(output: dict[str, Any]) -> str:
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


def _environment(example: Path) -> dict[str, str]:
    """Let an example find the package beside it where none is installed."""
    paths = [str(example.parents[1]), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}
