"""Two well-known generative networks, as PyTorch's examples build them: a DCGAN's pair of networks, and a variational autoencoder.

References: ``pytorch/examples``, ``dcgan/main.py`` and ``vae/main.py``; tensors as in their state dicts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from paramsym.algebra.size import Dim, Shape, canonical
from paramsym.algebra.symbols import B, C, F, H, W, dims
from paramsym.atlas.published import published_in
from paramsym.core.compose import Sequential
from paramsym.core.layer import Layer, Part
from paramsym.layers.activation import LeakyReLU, Sigmoid, Tanh
from paramsym.layers.batch_norm import BatchNorm2d
from paramsym.layers.convolution import Conv2d, ConvTranspose2d
from paramsym.layers.dense import Dense
from paramsym.models.vision.blocks import RELU, named
from paramsym.program import Own, Value, apply, axes, rearrange

_LATENT: Dim = dims("z")


@named
@dataclass(frozen=True)
class DCGANGenerator(Layer):
    """An image of 64x64 from z numbers: five transposed convolutions of 4x4, all except the last with a norm and ReLU.

    ``nz`` is the width of the latent vector, ``ngf`` the width before the last convolution, ``nc`` the channels of the image.

    Source: Radford et al. 2016, "Unsupervised Representation Learning with Deep Convolutional Generative Adversarial Networks", figure 1.

    >>> DCGANGenerator().params
    16*C*F + 672*F**2 + 128*F*z + 30*F
    >>> DCGANGenerator("dcgan_generator").params
    3576704
    """

    nz: Dim = _LATENT
    ngf: Dim = F
    nc: Dim = C

    published, claims = published_in("vision.generative", "_netG")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, self.nz, 1, 1)}

    def parts(self) -> Iterator[Part]:
        layers: list[Layer] = []
        near = self.nz
        for factor, settings in ((8, (4, 1, 0)), (4, (4, 2, 1)), (2, (4, 2, 1)), (1, (4, 2, 1))):
            far = canonical(factor * self.ngf)
            layers += [ConvTranspose2d(near, far, *settings, bias=False), BatchNorm2d(far), RELU]
            near = far
        yield Part("main", Sequential(*layers, ConvTranspose2d(near, self.nc, 4, 2, 1, bias=False), Tanh()))

    def forward(self, own: Own, x: Value) -> Value:
        """An image (batch, channels, 64, 64) between -1 and 1."""
        return own.main(axes(x, "batch channels height width", channels=self.nz)[0])


@named
@dataclass(frozen=True)
class DCGANDiscriminator(Layer):
    """The probability that an image of 64x64 is a real one: five convolutions of 4x4.

    ``nc`` is the number of channels of the image, ``ndf`` the width after the first convolution.

    Source: Radford et al. 2016, section 3. Reference: ``pytorch/examples``, ``dcgan/main.py``.

    >>> DCGANDiscriminator().params
    16*C*F + 672*F**2 + 156*F
    >>> DCGANDiscriminator("dcgan_discriminator").params
    2765568
    """

    nc: Dim = C
    ndf: Dim = F

    published, claims = published_in("vision.generative", "_netD")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        return {"x": (B, self.nc, 64, 64)}

    def parts(self) -> Iterator[Part]:
        near, leaky = self.ndf, LeakyReLU(0.2)
        layers: list[Layer] = [Conv2d(self.nc, near, 4, 2, 1, bias=False), leaky]
        for factor in (2, 4, 8):
            far = canonical(factor * self.ndf)
            layers += [Conv2d(near, far, 4, 2, 1, bias=False), BatchNorm2d(far), leaky]
            near = far
        yield Part("main", Sequential(*layers, Conv2d(near, 1, 4, 1, 0, bias=False), Sigmoid()))

    def forward(self, own: Own, x: Value) -> Value:
        """A probability for each image, (batch, 1)."""
        return rearrange(own.main(axes(x, "batch channels height width", channels=self.nc)[0]), "b one () () -> b one")


@named
@dataclass(frozen=True)
class VAE(Layer):
    """A variational autoencoder: from ``pixels`` to a mean and a log-variance for each of ``latent`` numbers, and back.

    MNIST has 784 pixels. Sizes that are not given are letters.

    Source: Kingma and Welling 2014, "Auto-Encoding Variational Bayes", appendix C.

    >>> VAE().params
    2*H*W + 3*H*z + 2*H + W + 2*z
    >>> VAE("vae_mnist").params
    652824
    """

    pixels: Dim = W
    hidden: Dim = H
    latent: Dim = _LATENT

    published, claims = published_in("vision.generative", "VAE")

    @property
    def inputs(self) -> Mapping[str, Shape]:
        """Flattened images (batch, pixels), and the noise (batch, latent)."""
        return {"x": (B, self.pixels), "noise": (B, self.latent)}

    def parts(self) -> Iterator[Part]:
        yield Part("fc1", Dense(self.pixels, self.hidden))
        yield Part("fc21", Dense(self.hidden, self.latent))
        yield Part("fc22", Dense(self.hidden, self.latent))
        yield Part("fc3", Dense(self.latent, self.hidden))
        yield Part("fc4", Dense(self.hidden, self.pixels))

    def forward(self, own: Own, x: Value, noise: Value | None = None) -> tuple[Value, Value, Value]:
        """The decoded image, the mean and the log-variance; without ``noise`` the mean is decoded."""
        seen = apply("relu", own.fc1(axes(x, "batch pixels", pixels=self.pixels)[0]))
        mean, log_variance = own.fc21(seen), own.fc22(seen)
        latent = mean if noise is None else mean + noise * apply("exp", log_variance * 0.5)
        return apply("sigmoid", own.fc4(apply("relu", own.fc3(latent)))), mean, log_variance
