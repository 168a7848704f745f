"""Claims about convolutional networks, their sources, and the call that checks each.

``value`` comes from outside this library: a state dict, a figure of a paper or a framework, or arithmetic by hand. The page shows the result of
the call, and a test compares the two. Expressions in braces are computed when the page is built.
"""

from __future__ import annotations

from typing import Any, NamedTuple

# ruff: noqa: E501 - an answer is read as a paragraph

_RGB = "(1, 3, 224, 224)"
_LAST = "(1, 224, 224, 3)"


class Said(NamedTuple):
    """A claim, its source, the verdict, the call that settles it, the value from outside, and the explanation."""

    claim: str
    source: str
    verdict: str
    call: str
    value: Any
    words: str


NETWORKS: dict[str, Said] = {
    "N-01": Said(
        "VGG-16 has 138 million parameters, most of them in the first fully connected layer.",
        "CS231n, convolutional-networks.md",
        "right",
        "[ps.load('vgg16').count, ps.load('vgg16').part('classifier.0').count]",
        [138_357_544, 102_764_544],
        "The thirteen convolutions hold {ps.load('vgg16').part('features').count:,}, a tenth; the dense layer after 7x7 positions of 512 channels holds 25088*4096 + 4096, three quarters.",
    ),
    "N-02": Said(
        "One image takes 24M numbers of memory in VGG-16, 93 MB.",
        "CS231n, convolutional-networks.md, the line TOTAL memory",
        "wrong",
        f"volumes('vgg16', {_RGB})",
        15_237_608,
        "The rows of the same table, the input included, add up to 15.2 million numbers, which are 61 MB; no term explains 24M.",
    ),
    "N-03": Said(
        "VGG-19 takes 19.6 billion FLOPs.",
        "He et al. 2016, section 3.3",
        "right under an assumption",
        f"ps.macs(ps.load('vgg19'), {_RGB}).total",
        19_632_062_464,
        "The paper counts a multiply-add as one operation; counted as a multiplication and an addition, the operations are {int(ps.flops(ps.load('vgg19'), (1, 3, 224, 224)).total):,}.",
    ),
    "N-04": Said(
        "ResNet-50 takes 3.8 billion FLOPs.",
        "He et al. 2016, table 1",
        "right under an assumption",
        f"ps.macs(ps.load('ResNet50'), {_LAST}).total",
        3_857_973_248,
        "These are multiply-adds of the paper's network, which is Keras': the first convolution of a bottleneck has the stride. The paper truncates 3.86.",
    ),
    "N-05": Said(
        "ResNet-50 takes 4.1 billion FLOPs.",
        "torchvision 0.28, GFLOPS of the weights: 4.09",
        "right under an assumption",
        f"[ps.macs(ps.load('resnet50'), {_RGB}).total, ps.flops(ps.load('resnet50'), {_RGB}).total]",
        [4_089_184_256, 8_178_368_512],
        "These are multiply-adds, too, of torchvision's network: the middle convolution has the stride, so the first one works at four times as many positions. Counted as two operations each, the same network takes 8.2 billion.",
    ),
    "N-06": Said(
        "ResNet-101 and ResNet-152 take 7.6 and 11.3 billion FLOPs.",
        "He et al. 2016, table 1",
        "right under an assumption",
        f"[ps.macs(ps.load(name), {_LAST}).total for name in ('ResNet101', 'ResNet152')]",
        [7_570_194_432, 11_282_415_616],
        "Multiply-adds again, with the stride in the first convolution; torchvision's networks of these names take {int(ps.macs(ps.load('resnet101'), (1, 3, 224, 224)).total):,} and {int(ps.macs(ps.load('resnet152'), (1, 3, 224, 224)).total):,}.",
    ),
    "N-07": Said(
        "ResNet-50 has 25,636,712 parameters.",
        "keras.applications.ResNet50, Total params",
        "right under an assumption",
        "[ps.load('ResNet50').count, entries('ResNet50'), ps.load('resnet50').count]",
        [25_583_592, 25_636_712, 25_557_032],
        "Keras also counts the statistics of the norms, which are not trained. torchvision's network is smaller by {ps.load('ResNet50').count - ps.load('resnet50').count:,}: the biases of Keras' convolutions, which have no effect because norms follow.",
    ),
    "N-08": Said(
        "MobileNet has 4.2 million parameters and takes 569 million multiply-adds; at half the width 1.3 and 149 million.",
        "Howard et al. 2017, table 6",
        "right",
        f"[one for name in ('mobilenet', 'mobilenet_0.50') for one in (ps.load(name).count, ps.macs(ps.load(name), {_LAST}).total)]",
        [4_231_976, 568_740_352, 1_331_592, 149_497_088],
        "The formula for the width w/32 is {ps.models.MobileNet(alpha=ps.dims('w')/32, classes=1000).params}.",
    ),
    "N-09": Said(
        "MobileNet at three quarters of the width takes 317 million multiply-adds.",
        "tensorflow/models, research/slim/nets/mobilenet_v1.md",
        "wrong",
        f"ps.macs(ps.load('mobilenet_0.75'), {_LAST}).total",
        325_400_448,
        "The paper has 325 million; no setting of the multiplier gives 317.",
    ),
    "N-10": Said(
        "MobileNetV2 has 3.4 million parameters.",
        "Sandler et al. 2018, table 4",
        "wrong",
        "ps.load('mobilenet_v2').count",
        3_504_872,
        "Without the scales and shifts of the norms there are {int(ps.load('mobilenet_v2').ledger().where(lambda line: len(line.shape) > 1 or 'classifier' in line.name).stored):,}, the 3.47 million of slim's page, which the paper truncates.",
    ),
    "N-11": Said(
        "A 7x7 convolution has 81 % more parameters than three 3x3 convolutions with the same receptive field.",
        "Simonyan and Zisserman 2015, section 2.3",
        "right",
        "[ps.receptive_field(ps.Repeat(ps.Conv2d(64, 64, 3, padding=1, bias=False), 3)), ps.receptive_field(ps.Conv2d(64, 64, 7)), ps.Conv2d(64, 64, 7, bias=False).count, ps.Repeat(ps.Conv2d(64, 64, 3, bias=False), 3).count]",
        [[7, 7], [7, 7], 49 * 64**2, 27 * 64**2],
        "{ps.Conv2d(ps.C, ps.C, 7, bias=False).params} against {ps.Repeat(ps.Conv2d(ps.C, ps.C, 3, bias=False), 3).params}, for any number of channels, biases left out; 49/27 is 1.81.",
    ),
    "N-12": Said(
        "A 3x3 depthwise separable convolution takes 8 to 9 times less computation.",
        "Howard et al. 2017, section 3.1",
        "right under an assumption",
        "[round(float(ps.macs(ps.Conv2d(c, c, 3, padding=1, bias=False), (1, c, 14, 14)).total / ps.macs(ps.SeparableConv2d(c, c, 3, padding=1, bias=False), (1, c, 14, 14)).total), 2) for c in (32, 64, 128, 512, 1024)]",
        [7.02, 7.89, 8.41, 8.84, 8.92],
        "The ratio is 1/(1/C + 1/9): it reaches 8 with 72 channels, and never reaches 9.",
    ),
    "N-13": Said(
        "A pooling layer introduces zero parameters.",
        "CS231n, convolutional-networks.md",
        "right",
        "ps.Sequential(ps.MaxPool2d(2), ps.AvgPool2d(3), ps.AdaptiveAvgPool2d(1)).count",
        0,
        "LeNet-5 of 1998 is the exception: each map of its subsampling layers has one weight and one bias, {ps.models.LeNet5().part('S2').count} in the first such layer.",
    ),
    "N-14": Said(
        "AlexNet has 60 million parameters and 650,000 neurons.",
        "Krizhevsky et al. 2012, abstract",
        "right",
        "[alexnet(2).count, ps.neurons(alexnet(2), (1, 3, 227, 227), total=True)]",
        [60_965_224, 659_272],
        "That is the network of the paper, whose second, fourth and fifth convolutions are in two groups. All outputs of layers with weights are neurons; the images have sides of 227, not the 224 of the paper.",
    ),
    "N-15": Said(
        "AlexNet has 62.4 million parameters, or 61.1 million.",
        "LearnOpenCV, Number of Parameters and Tensor Sizes in a CNN; torchvision 0.28, num_params of the weights",
        "right under an assumption",
        "[alexnet(1).count, ps.load('alexnet').count]",
        [62_378_344, 61_100_840],
        "62.4 million is the count for the paper's widths without groups, {alexnet(1).count - alexnet(2).count:,} more; 61.1 million is that of torchvision's network, which has the widths of a later paper (Krizhevsky 2014).",
    ),
    "N-16": Said(
        "GoogLeNet has 12 times fewer parameters than AlexNet.",
        "Szegedy et al. 2015, section 1",
        "wrong",
        "round(alexnet(2).count / ps.load('googlenet').count, 1)",
        9.2,
        "torchvision's GoogLeNet has {ps.load('googlenet').count:,}, and {ps.models.GoogLeNet('googlenet', aux_logits=True).count:,} with the two auxiliary classifiers, which only training uses; the rows of the paper's own table 1 add up to 6.8 million, nine times fewer.",
    ),
    "N-17": Said(
        "Inception v3 has 27.2 million parameters; it has 23.8 million.",
        "torchvision 0.28, num_params of the weights; timm, results; keras.applications",
        "right under an assumption",
        "[ps.load('inception_v3').count, ps.models.Inception3('inception_v3', aux_logits=False).count, ps.load('InceptionV3').count]",
        [27_161_264, 23_834_568, 23_817_352],
        "The first count includes the auxiliary classifier, the second does not. Keras has none, and its norms have no scale, which makes {ps.models.Inception3('inception_v3', aux_logits=False).count - ps.load('InceptionV3').count:,} fewer.",
    ),
    "N-18": Said(
        "SqueezeNet has 50 times fewer parameters than AlexNet.",
        "Iandola et al. 2016, title",
        "right",
        "[ps.load('squeezenet1_0').count, round(alexnet(2).count / ps.load('squeezenet1_0').count, 1)]",
        [1_248_424, 48.8],
        "The half megabyte of the same title needs compression as well: 1.2 million numbers of 32 bits are 5 MB.",
    ),
    "N-19": Said(
        "EfficientNet-B0 has 5.3 million parameters and takes 0.39 billion FLOPs, B7 66 million and 37 billion.",
        "Tan and Le 2019, table 2",
        "right under an assumption",
        "[one for name, side in (('efficientnet_b0', 224), ('efficientnet_b7', 600)) for one in (ps.load(name).count, ps.macs(ps.load(name), (1, 3, side, side)).total)]",
        [5_288_548, 385_814_752, 66_347_960, 37_745_884_192],
        "FLOPs are multiply-adds here, too, at the resolution of each network; B7's are truncated.",
    ),
    "N-20": Said(
        "DenseNet-121 has 8,062,504 parameters.",
        "keras.applications.DenseNet121, Total params",
        "right under an assumption",
        "[ps.load('DenseNet121').count, entries('DenseNet121')]",
        [7_978_856, 8_062_504],
        "Keras also counts the means and variances of the norms, which are not trained: {entries('DenseNet121') - ps.load('DenseNet121').count:,}.",
    ),
    "N-21": Said(
        "The receptive field of ResNet-50 is 483.",
        "Araujo, Norris and Sim 2019, table",
        "right under an assumption",
        "[ps.receptive_field(ps.load(name)) for name in ('ResNet50', 'ResNet50V2', 'resnet50')]",
        [[483, 483], [483, 483], [427, 427]],
        "If the first convolution of a stage has the stride, or the last block of the stage before, every 3x3 convolution of the stage works on the coarser map. In torchvision the first 3x3 convolution has the stride, works on the finer map, and adds half as much to the receptive field.",
    ),
    "N-22": Said(
        "U-Net has 31 million parameters.",
        "repositories that follow Ronneberger et al. 2015",
        "right",
        "[ps.load('unet_carvana').count, ps.models.UNet(1, 2).count]",
        [31_037_698, 31_036_546],
        "The first is the usual network with norms, for images with three channels; for images with one channel it has 1,152 weights fewer. {round(100 * sum(ps.load('unet_carvana').part(name).count for name in ('down4', 'up1')) / ps.load('unet_carvana').count)} % of them are at the lowest level and on the first step up.",
    ),
}
