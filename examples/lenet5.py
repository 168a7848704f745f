"""LeNet-5 as it was printed in 1998, to the digit: 60,000 trainable parameters, and where textbooks' 61,706 comes from."""

from __future__ import annotations

import paramsym as ps


def main() -> None:
    """Print both networks layer by layer, and the difference."""
    original, modern = ps.models.LeNet5(), ps.models.LeNet5("modern")
    print(original.table(depth=1))
    print()
    print(f"Trainable in 1998: {int(original.trainable):,} (C3 sees 60 of its 96 possible maps; subsampling has two parameters a map.)")
    print()
    print(modern.table(depth=1))
    print()
    print(f"In frameworks today: {modern.count:,}")
    full = ps.Conv2d(6, 16, 5)
    print(f"A full C3 alone would have {full.count - original.part('C3').count:,} more.")


if __name__ == "__main__":
    main()
