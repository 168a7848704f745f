"""Where does this number come from? Claims about BERT from public pages, each with the term by which it is off."""

from __future__ import annotations

import paramsym as ps

CLAIMS = (109_482_240, 109_786_368, 108_891_648, 109_483_776, 110_000_000)


def main() -> None:
    """Print what each claim is, or that nothing short explains it."""
    bert = ps.models.Bert().at("bert-base-uncased")
    print(f"BERT base stores {bert.count:,} parameters: {bert.formula}")
    for claim in CLAIMS:
        found = ps.reconcile(bert, claim)
        print()
        print(f"claimed {claim:,}:")
        print(f"    {found[0] if found else found}")
    print()
    print("What other conventions of counting would say:")
    print(ps.conventions(bert).table())


if __name__ == "__main__":
    main()
