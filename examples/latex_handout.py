"""A handout on the parameters of transformers, written as LaTeX, and as PDF where pdflatex is installed.

Run it as ``python examples/latex_handout.py [directory]``; without a directory it writes into the one it is run in.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import paramsym as ps
from paramsym import A, H


def handout() -> str:
    """Return the document: formulas by part, the derivation that heads cancel, numbers step by step, a table."""
    bert = ps.models.Bert()
    base = bert.at("bert-base-uncased")
    gpt2 = ps.models.Gpt2()
    return ps.latex_document(
        "Why the number of heads is in no formula:",
        ps.explain(ps.MultiHeadAttention(H, A), A),
        "An encoder, part by part, in the letters of BERT:",
        bert.to_latex("align"),
        "The base model, step by step:",
        base.to_latex("steps"),
        "A decoder in the letters of Megatron-LM, factored by its leading term:",
        f"\\[{gpt2.to_latex('factored', letters='megatron')}\\]",
        "Two sizes of it:",
        ps.table({"BERT base": base, "BERT large": bert.at("bert-large-uncased")}, ["L", "H", "A", "F", "V"]),
        "Every tensor of the encoder:",
        bert.table(),
        title="How many parameters does a transformer have?",
    )


def main(folder: Path) -> None:
    """Write the handout, and say where."""
    source = folder / "handout.tex"
    source.write_text(handout(), encoding="utf-8")
    print(f"{source}: {len(source.read_text(encoding='utf-8').splitlines())} lines of LaTeX")
    engine = shutil.which("pdflatex")
    if engine is None:
        print("pdflatex is not installed; compile it anywhere, nothing but standard packages is needed.")
        return
    for _ in range(2):  # a longtable knows its widths after the first run
        command = [engine, "-interaction=nonstopmode", "-halt-on-error", source.name]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)  # noqa: S603 - the command that was found, on our own file
    paper = folder / "handout.pdf"
    print(f"{paper}: {paper.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
