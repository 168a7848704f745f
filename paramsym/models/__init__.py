"""Model families, one file each: architecture, named sizes, published claims, configuration keys, the reference's tensor names.

The arguments of a model of transformers are the keys of the reference's configuration; ``architecture`` is the reference's class. Every
model refuses an activation or a class that the reference does not know, and sizes that do not fit, such as heads that do not divide the
width.

A family is one file and one line of ``FAMILIES``; its file is loaded when one of its names is first used. The architecture of the families
in ``RECORDED`` is a record of the atlas.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from paramsym.atlas.published import RECORDED, RECORDED_TYPES

if TYPE_CHECKING:
    from paramsym.atlas.families import Family as RecordedFamily
    from paramsym.models.albert import Albert as Albert
    from paramsym.models.applications.convnext import KerasConvNeXt as KerasConvNeXt
    from paramsym.models.applications.densenet import KerasDenseNet as KerasDenseNet
    from paramsym.models.applications.efficientnet import KerasEfficientNet as KerasEfficientNet
    from paramsym.models.applications.efficientnet_v2 import KerasEfficientNetV2 as KerasEfficientNetV2
    from paramsym.models.applications.inception import InceptionResNetV2 as InceptionResNetV2, KerasInceptionV3 as KerasInceptionV3
    from paramsym.models.applications.mobilenet import MobileNet as MobileNet
    from paramsym.models.applications.mobilenet_v2 import KerasMobileNetV2 as KerasMobileNetV2
    from paramsym.models.applications.mobilenet_v3 import KerasMobileNetV3 as KerasMobileNetV3
    from paramsym.models.applications.nasnet import NASNet as NASNet
    from paramsym.models.applications.resnet import KerasResNet as KerasResNet, KerasResNetV2 as KerasResNetV2
    from paramsym.models.applications.vgg import KerasVGG as KerasVGG
    from paramsym.models.applications.xception import Xception as Xception
    from paramsym.models.bart import Bart as Bart
    from paramsym.models.beit import Beit as Beit
    from paramsym.models.bert import Bert as Bert
    from paramsym.models.bloom import Bloom as Bloom
    from paramsym.models.clip import Clip as Clip, ClipText as ClipText, ClipVision as ClipVision
    from paramsym.models.cohere import Cohere as Cohere
    from paramsym.models.convnext import ConvNext as ConvNext
    from paramsym.models.deberta_v2 import DebertaV2 as DebertaV2
    from paramsym.models.deepseek import Deepseek as Deepseek
    from paramsym.models.densenet import DenseNet as DenseNet
    from paramsym.models.dinov2 import Dinov2 as Dinov2
    from paramsym.models.distilbert import DistilBert as DistilBert
    from paramsym.models.electra import Electra as Electra
    from paramsym.models.encoder_decoder import EncoderDecoder as EncoderDecoder
    from paramsym.models.falcon import Falcon as Falcon
    from paramsym.models.family import Family
    from paramsym.models.gemma import Gemma as Gemma
    from paramsym.models.gpt2 import Gpt2 as Gpt2
    from paramsym.models.gpt_bigcode import GptBigCode as GptBigCode
    from paramsym.models.gpt_neo import GptNeo as GptNeo
    from paramsym.models.gpt_neox import GptNeoX as GptNeoX
    from paramsym.models.gpt_oss import GptOss as GptOss
    from paramsym.models.gptj import GptJ as GptJ
    from paramsym.models.lenet import LeNet5 as LeNet5
    from paramsym.models.llama import Llama as Llama
    from paramsym.models.mamba import Mamba2LM as Mamba2LM, MambaLM as MambaLM
    from paramsym.models.mixtral import Mixtral as Mixtral
    from paramsym.models.mpt import Mpt as Mpt
    from paramsym.models.olmo import Olmo as Olmo
    from paramsym.models.olmoe import Olmoe as Olmoe
    from paramsym.models.opt import Opt as Opt
    from paramsym.models.phi3 import Phi3 as Phi3
    from paramsym.models.qwen_moe import QwenMoe as QwenMoe
    from paramsym.models.resnet import ResNet as ResNet
    from paramsym.models.resnet_v1_5 import ResNetV15 as ResNetV15
    from paramsym.models.roberta import Roberta as Roberta
    from paramsym.models.siglip import Siglip as Siglip, SiglipText as SiglipText, SiglipVision as SiglipVision
    from paramsym.models.stablelm import StableLm as StableLm
    from paramsym.models.swin import Swin as Swin
    from paramsym.models.t5 import T5 as T5
    from paramsym.models.vision.alexnet import AlexNet as AlexNet
    from paramsym.models.vision.convnext import ConvNeXt as ConvNeXt
    from paramsym.models.vision.efficientnet import EfficientNet as EfficientNet
    from paramsym.models.vision.generative import VAE as VAE, DCGANDiscriminator as DCGANDiscriminator, DCGANGenerator as DCGANGenerator
    from paramsym.models.vision.inception import GoogLeNet as GoogLeNet, Inception3 as Inception3
    from paramsym.models.vision.maxvit import MaxVit as MaxVit
    from paramsym.models.vision.mnasnet import MNASNet as MNASNet
    from paramsym.models.vision.mobilenet_v2 import MobileNetV2 as MobileNetV2
    from paramsym.models.vision.mobilenet_v3 import MobileNetV3 as MobileNetV3
    from paramsym.models.vision.mvit import MViT as MViT
    from paramsym.models.vision.rcnn import FasterRCNN as FasterRCNN, KeypointRCNN as KeypointRCNN, MaskRCNN as MaskRCNN
    from paramsym.models.vision.regnet import RegNet as RegNet
    from paramsym.models.vision.retinanet import FCOS as FCOS, RetinaNet as RetinaNet
    from paramsym.models.vision.segmentation import FCN as FCN, LRASPP as LRASPP, DeepLabV3 as DeepLabV3
    from paramsym.models.vision.shufflenet_v2 import ShuffleNetV2 as ShuffleNetV2
    from paramsym.models.vision.squeezenet import SqueezeNet as SqueezeNet
    from paramsym.models.vision.ssd import SSD as SSD, SSDLite as SSDLite
    from paramsym.models.vision.swin_transformer import SwinTransformer as SwinTransformer
    from paramsym.models.vision.swin_transformer3d import SwinTransformer3d as SwinTransformer3d
    from paramsym.models.vision.unet import HubUNet as HubUNet, UNet as UNet
    from paramsym.models.vision.vgg import VGG as VGG
    from paramsym.models.vision.video_resnet import S3D as S3D, VideoResNet as VideoResNet
    from paramsym.models.vision.vision_transformer import VisionTransformer as VisionTransformer
    from paramsym.models.vit import Vit as Vit
    from paramsym.models.wav2vec2 import Wav2Vec2 as Wav2Vec2
    from paramsym.models.whisper import Whisper as Whisper

    Phi: type[RecordedFamily]
    Starcoder2: type[RecordedFamily]

FAMILIES = {
    "albert": ("Albert", "albert"),
    "applications.convnext": ("KerasConvNeXt", ""),
    "applications.densenet": ("KerasDenseNet", ""),
    "applications.efficientnet": ("KerasEfficientNet", ""),
    "applications.efficientnet_v2": ("KerasEfficientNetV2", ""),
    "applications.inception": ("KerasInceptionV3 InceptionResNetV2", ""),
    "applications.mobilenet": ("MobileNet", ""),
    "applications.mobilenet_v2": ("KerasMobileNetV2", ""),
    "applications.mobilenet_v3": ("KerasMobileNetV3", ""),
    "applications.nasnet": ("NASNet", ""),
    "applications.resnet": ("KerasResNet KerasResNetV2", ""),
    "applications.vgg": ("KerasVGG", ""),
    "applications.xception": ("Xception", ""),
    "bart": ("Bart", "bart marian mbart pegasus"),
    "beit": ("Beit", "beit"),
    "bert": ("Bert", "bert"),
    "bloom": ("Bloom", "bloom"),
    "clip": ("Clip ClipText ClipVision", "clip clip_text_model clip_vision_model"),
    "cohere": ("Cohere", "cohere"),
    "convnext": ("ConvNext", "convnext"),
    "deberta_v2": ("DebertaV2", "deberta-v2"),
    "deepseek": ("Deepseek", "deepseek_v2 deepseek_v3"),
    "densenet": ("DenseNet", ""),
    "dinov2": ("Dinov2", "dinov2"),
    "distilbert": ("DistilBert", "distilbert"),
    "electra": ("Electra", "electra"),
    "encoder_decoder": ("EncoderDecoder", ""),
    "falcon": ("Falcon", "falcon"),
    "gemma": ("Gemma", "gemma gemma2 gemma3_text"),
    "gpt2": ("Gpt2", "gpt2"),
    "gpt_bigcode": ("GptBigCode", "gpt_bigcode"),
    "gpt_neo": ("GptNeo", "gpt_neo"),
    "gpt_neox": ("GptNeoX", "gpt_neox"),
    "gpt_oss": ("GptOss", "gpt_oss"),
    "gptj": ("GptJ", "gptj"),
    "lenet": ("LeNet5", ""),
    "llama": ("Llama", "granite llama mistral qwen2 qwen3"),
    "mamba": ("MambaLM Mamba2LM", "mamba mamba2"),
    "mixtral": ("Mixtral", "mixtral"),
    "mpt": ("Mpt", "mpt"),
    "olmo": ("Olmo", "olmo olmo2"),
    "olmoe": ("Olmoe", "olmoe"),
    "opt": ("Opt", "opt"),
    "phi3": ("Phi3", "phi3"),
    "qwen_moe": ("QwenMoe", "qwen2_moe qwen3_moe"),
    "resnet": ("ResNet", ""),
    "resnet_v1_5": ("ResNetV15", "resnet"),
    "roberta": ("Roberta", "roberta xlm-roberta"),
    "siglip": ("Siglip SiglipText SiglipVision", "siglip siglip_text_model siglip_vision_model"),
    "stablelm": ("StableLm", "stablelm"),
    "swin": ("Swin", "swin"),
    "t5": ("T5", "mt5 t5 umt5"),
    "vision.alexnet": ("AlexNet", ""),
    "vision.squeezenet": ("SqueezeNet", ""),
    "vision.vgg": ("VGG", ""),
    "vision.mobilenet_v2": ("MobileNetV2", ""),
    "vision.mobilenet_v3": ("MobileNetV3", ""),
    "vision.mnasnet": ("MNASNet", ""),
    "vision.shufflenet_v2": ("ShuffleNetV2", ""),
    "vision.efficientnet": ("EfficientNet", ""),
    "vision.inception": ("GoogLeNet Inception3", ""),
    "vision.regnet": ("RegNet", ""),
    "vision.convnext": ("ConvNeXt", ""),
    "vision.vision_transformer": ("VisionTransformer", ""),
    "vision.video_resnet": ("VideoResNet S3D", ""),
    "vision.segmentation": ("FCN DeepLabV3 LRASPP", ""),
    "vision.swin_transformer": ("SwinTransformer", ""),
    "vision.swin_transformer3d": ("SwinTransformer3d", ""),
    "vision.mvit": ("MViT", ""),
    "vision.rcnn": ("FasterRCNN MaskRCNN KeypointRCNN", ""),
    "vision.retinanet": ("RetinaNet FCOS", ""),
    "vision.ssd": ("SSD SSDLite", ""),
    "vision.maxvit": ("MaxVit", ""),
    "vision.unet": ("UNet HubUNet", ""),
    "vision.generative": ("DCGANDiscriminator DCGANGenerator VAE", ""),
    "vit": ("Vit", "deit vit"),
    "wav2vec2": ("Wav2Vec2", "hubert wav2vec2"),
    "whisper": ("Whisper", "whisper"),
}
"""``{file: (model classes, model types that a config.json may name)}``, with names separated by spaces."""

_HOME_OF = {name: home for home, (classes, _) in FAMILIES.items() for name in classes.split()}
_HOME_OF_TYPE = {name: home for home, (_, types) in FAMILIES.items() for name in types.split()}


def model_types() -> tuple[str, ...]:
    """Return every ``model_type`` that ``from_config`` knows, sorted.

    >>> "bert" in model_types()
    True
    """
    return tuple(sorted(_HOME_OF_TYPE))


def family_of(model_type: str) -> Family:
    """Return the reader of configurations of this ``model_type``.

    Raises:
        KeyError: a ``model_type`` that is neither among ``model_types()`` nor that of a recorded family.

    >>> family_of("bert").architectures[0]
    'BertModel'
    """
    if model_type in RECORDED_TYPES:
        from paramsym.models.recorded import reader_of

        return reader_of(model_type)
    module = import_module(f"paramsym.models.{_HOME_OF_TYPE[model_type]}")
    found: Family = next(one for one in module.FAMILIES if one.model_type == model_type)
    return found


def __getattr__(name: str) -> object:
    """Load a model class from its family's file, or make it from its record, once."""
    value: object
    if name in _HOME_OF:
        value = getattr(import_module(f"paramsym.models.{_HOME_OF[name]}"), name)
    elif name in RECORDED:
        from paramsym.atlas.families import family_named

        value = family_named(name)
    else:
        message = f"module 'paramsym.models' has no attribute {name!r}"
        raise AttributeError(message, name=name, obj=sys.modules[__name__])  # so that Python adds the nearest name
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the model classes, loaded or not."""
    return sorted([*_HOME_OF, *RECORDED, "FAMILIES", "family_of", "model_types"])
