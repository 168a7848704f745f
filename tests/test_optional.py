"""What is said where an optional package is missing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from amount import cases

import paramsym as ps
from paramsym.errors import ArgumentError
from paramsym.optional import needed


def test_present() -> None:
    """A package that is there is returned, submodules too."""
    assert needed("xml.dom", "reading").__name__ == "xml.dom"


def test_missing() -> None:
    """One that is not is named, with its purpose and what to install."""
    words = r"a picture needs abacus, which is not installed: pip install abacus \(or paramsym\[plot\]\)\."
    with pytest.raises(ArgumentError, match=words):
        needed("abacus.figure", "a picture", "plot")


@cases(1)
@pytest.mark.parametrize(
    ("package", "call"),
    [
        ("numpy", "ps.evaluate(ps.Dense(ps.H, 4), H=[3, 5])"),
        ("matplotlib", "ps.plot.share(ps.models.Bert().at('bert-base-uncased'))"),
        ("matplotlib", "ps.plot.cancellation(12)"),
        ("matplotlib", "ps.plot.convolution(6, 3, 5)"),
        ("safetensors", "ps.match(ps.Dense(4, 4), sys.argv[1])"),
        ("numpy", "ps.match(ps.Dense(4, 4), sys.argv[1])"),
        ("onnx", "ps.load('model.onnx')"),
        ("pandas", "ps.Dense(4, 4).table().to_pandas()"),
    ],
)
def test_every_answer_that_needs_one_says_so(package: str, call: str, tmp_path: Path) -> None:
    """Without the package the call raises this library's error, not an import error from the inside."""
    if package != "safetensors" and "argv" in call:
        pytest.importorskip("safetensors")
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"\2" + b"\0" * 7 + b"{}")
    hidden = f"import sys; sys.modules[{package!r}] = None; import paramsym as ps"
    program = f"{hidden}\ntry:\n    {call}\nexcept ps.errors.ArgumentError as error:\n    print(error)"
    root = Path(ps.__file__).parents[1]
    done = subprocess.run([sys.executable, "-c", program, str(file)], capture_output=True, text=True, check=False, cwd=root)
    assert done.stderr == ""
    assert f"needs {package}, which is not installed" in done.stdout
