"""DenseNet's count as a polynomial in growth rate and depths: growth by concatenation, summed in closed form."""

from __future__ import annotations

import paramsym as ps
from paramsym import C, dims


def main() -> None:
    """Derive one dense block, then print the four published networks from one formula."""
    g, i, n = dims("g i n")
    layer = ps.Sequential(
        *(ps.BatchNorm2d(C + i * g), ps.Conv2d(C + i * g, 4 * g, 1, bias=False)),
        *(ps.BatchNorm2d(4 * g), ps.Conv2d(4 * g, g, 3, bias=False)),
    )
    block = ps.Repeat(layer, n, index=i)
    print("One dense block that starts with C channels:")
    print("   ", block.params)
    print("    quadratic in depth:", block.params.coeff(n, 2), "per n**2")
    print()
    network = ps.models.DenseNet()
    print("The whole network in g, n1..n4 and the number of classes N:")
    print("   ", network.params)
    print()
    for name, growth, depths in (
        ("DenseNet-121", 32, (6, 12, 24, 16)),
        ("DenseNet-169", 32, (6, 12, 32, 32)),
        ("DenseNet-201", 32, (6, 12, 48, 32)),
        ("DenseNet-161", 48, (6, 12, 36, 24)),
    ):
        sizes = dict(zip(("n1", "n2", "n3", "n4"), depths, strict=True))
        print(f"{name}: {network.at(**sizes, g=growth, N=1000).count:,}")


if __name__ == "__main__":
    main()
