"""``import paramsym`` costs next to nothing on top of ``import sympy``."""

from __future__ import annotations

import subprocess
import sys

from amount import cases


def run(code: str) -> str:
    """Run code in a fresh interpreter and return what it prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def test_only_what_is_needed_is_imported() -> None:
    """No SymPy, no dataclasses, no inspect until a name needs them."""
    loaded = run("import sys; import paramsym; dir(paramsym); print(*sys.modules)").split()
    assert not {"sympy", "dataclasses", "inspect", "re", "typing", "numpy", "torch"} & (
        set(loaded) - set(run("import sys; print(*sys.modules)").split())
    )
    assert [name for name in loaded if name.startswith("paramsym")] == ["paramsym"]


@cases(0)
def test_sympy_comes_with_the_first_name_that_needs_it() -> None:
    """And no framework comes with any."""
    loaded = run("import sys, paramsym; paramsym.Dense(3, 4); print(*sys.modules)").split()
    assert "sympy" in loaded
    assert not {"torch", "keras", "jax", "flax", "transformers", "numpy", "matplotlib", "pandas"} & set(loaded)


@cases(1)
def test_a_closed_form_needs_no_operation_and_no_table() -> None:
    """No file of the layers loads the operations of a pass; nor does a count load tables, edits, names written out, or SymPy's tensors."""
    code = (
        "import sys, pkgutil, importlib; before = {*sys.modules}  # what watches the lines of a run loads modules, too\n"
        "import paramsym as ps; form = ps.MultiHeadAttention(ps.H, ps.A).params; print(*{*sys.modules} - before)\n"
        "import paramsym.layers as room\n"
        "[importlib.import_module(f'paramsym.layers.{one.name}') for one in pkgutil.iter_modules(room.__path__)]\n"
        "print(*sys.modules); ps.output_shape(ps.Dense(3, 4), (2, 3)); print('paramsym.program.graph' in sys.modules)"
    )
    counted, all_layers, traced = (line.split() for line in run(code).splitlines())
    slow = {"present", "render", "core.edit", "core.compose", "core.ledger", "core.names", "core.ties", "algebra.numbering", "layers.heads"}
    assert not {*(f"paramsym.{name}" for name in slow), "sympy.tensor.tensor", "html"} & set(counted)
    assert not {"paramsym.program.graph", "paramsym.program.vocabulary"} & set(all_layers)
    assert traced == ["True"]


@cases(0)
def test_nothing_is_read_or_counted_until_asked() -> None:
    """Importing every family of models reads no file of published sizes and builds no network."""
    code = (
        "import paramsym as ps, pkgutil\n"
        "pkgutil.get_data = None\n"
        "models = [getattr(ps.models, name) for name in dir(ps.models) if name[0].isupper() and name != 'FAMILIES']\n"
        "files = [model.published for model in models if hasattr(model.published, 'inside')]\n"
        "print(len(files), *(name for file in files for name in vars(file) if name in {'rows', 'sizes', 'claims'}))"
    )
    assert int(run(code)) > 80


def test_help_needs_no_sympy() -> None:
    """The command line answers before anything is loaded that only a count needs."""
    asked = "import sys, paramsym.cli as cli\ntry: cli.main(['--help'])\nexcept SystemExit: pass\nprint(*sys.modules)"
    loaded = run(asked).splitlines()[-1].split()
    assert "paramsym.cli" in loaded
    assert not {"sympy", "numpy", "torch"} & set(loaded)
