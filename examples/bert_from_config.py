"""From a Hugging Face configuration to the closed form, the number, and the reason why the head count is in neither.

Run it as ``python examples/bert_from_config.py [config.json]``. No framework and no weights are needed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import paramsym as ps

CONFIG = Path(__file__).parent / "bert-base-uncased" / "config.json"


def main(config: Path) -> None:
    """Print the closed form, the count, the table, the derivation and the LaTeX of the encoder that a configuration describes."""
    model = ps.from_config(config, architecture="BertModel")
    print("Closed form:", model.formula)
    print(f"Parameters:  {model.count:,}")
    print("With", ", ".join(f"{symbol} = {size:,}" for symbol, size in model.sizes.items()))
    print()
    print(model.table(depth=1))
    print()
    explanation = ps.explain(model, "A")
    print(explanation)
    print()
    print("The closed form in LaTeX:")
    print(ps.models.Bert().to_latex())
    print()
    print("The derivation in LaTeX:")
    print(explanation.to_latex())


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else CONFIG)
