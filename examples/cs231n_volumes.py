"""Stanford's CS231n, convolutional networks: output volumes, neurons, parameters and what sharing saves, in letters and in numbers."""

from __future__ import annotations

import paramsym as ps
from paramsym import C, F, K, W, dims


def main() -> None:
    """Print the volume in letters, then the first layer of AlexNet as the course does it."""
    stride, padding = dims("S P")
    convolution = ps.Conv2d(C, F, K, stride=stride, padding=padding)
    print("Parameters:", convolution.params)
    print("Volume:    ", ps.output_shape(convolution, (1, C, W, W)))
    print("In the course's letters:", convolution.to_latex(letters="cs231n"))
    print()
    first = ps.Conv2d(3, 96, 11, stride=4)
    _, filters, height, width = ps.output_shape(first, (1, 3, 227, 227))
    print(f"AlexNet's first layer: {height} x {width} x {filters} = {ps.neurons(first, (1, 3, 227, 227)):,} neurons")
    print(f"shared:     {first.count:,} parameters")
    print(f"not shared: {ps.LocallyConnected2d(3, 96, 11, 227, stride=4).count:,} parameters")
    print()
    three, one = 3 * ps.Conv2d(C, C, 3, bias=False), ps.Conv2d(C, C, 7, bias=False)
    print(f"Three 3 x 3 layers: {three.params}; one 7 x 7 layer that sees as far: {one.params}")


if __name__ == "__main__":
    main()
