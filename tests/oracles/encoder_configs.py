"""Small random configurations of encoders, encoder-decoders, vision and speech models, for the live classes to build; no row is recorded.

A family joins by a row of ``ENCODERS``. Some keys are left to their defaults, some are at values that no published model has.
"""

from __future__ import annotations

import random
from typing import Any

import paramsym as ps

ACTIVATIONS = ("gelu", "relu", "prelu", "xielu", "silu")


def labels(draw: random.Random) -> dict[str, Any]:
    """Labels in one of the three ways in which a configuration gives them."""
    many = draw.randint(1, 9)
    return draw.choice(({}, {"num_labels": many}, {"id2label": {str(number): "x" for number in range(many)}}))


def roberta(draw: random.Random) -> dict[str, Any]:
    """RoBERTa, XLM-RoBERTa: BERT's keys."""
    heads = draw.randint(1, 4)
    decoder = draw.random() < 0.5
    return {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": heads * draw.randint(1, 6),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": heads,
        "intermediate_size": draw.randint(1, 40),
        "max_position_embeddings": draw.randint(2, 40),
        "type_vocab_size": draw.randint(1, 4),
        "hidden_act": draw.choice(ACTIVATIONS),
        "is_decoder": decoder,
        "add_cross_attention": decoder and draw.random() < 0.5,
        "tie_word_embeddings": draw.random() < 0.7,
    } | labels(draw)


def distilbert(draw: random.Random) -> dict[str, Any]:
    """DistilBERT, sometimes in the common spelling of its keys."""
    heads = draw.randint(1, 4)
    sizes = {"dim": heads * draw.randint(1, 6), "n_heads": heads, "n_layers": draw.randint(0, 3)}
    if draw.random() < 0.3:
        names = {"dim": "hidden_size", "n_heads": "num_attention_heads", "n_layers": "num_hidden_layers"}
        sizes = {names[key]: value for key, value in sizes.items()}
    return {
        **sizes,
        "vocab_size": draw.randint(2, 90),
        "hidden_dim": draw.randint(1, 40),
        "max_position_embeddings": draw.randint(2, 40),
        "sinusoidal_pos_embds": draw.random() < 0.3,
        "activation": draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.7,
    }


def electra(draw: random.Random) -> dict[str, Any]:
    """ELECTRA, with and without a projection of its embeddings."""
    config = roberta(draw)
    return config | {
        "embedding_size": draw.choice((config["hidden_size"], draw.randint(1, 12))),
        "summary_use_proj": draw.random() < 0.7,
        "summary_activation": draw.choice(("gelu", "prelu", "tanh")),
    }


def albert(draw: random.Random) -> dict[str, Any]:
    """ALBERT with one group or several, of one block or several."""
    config = roberta(draw)
    for key in ("is_decoder", "add_cross_attention"):
        del config[key]
    return config | {
        "embedding_size": draw.randint(1, 12),
        "num_hidden_groups": draw.choice((1, 1, 0, 2, 3)),
        "inner_group_num": draw.choice((1, 1, 0, 2)),
    }


def t5(draw: random.Random) -> dict[str, Any]:
    """T5, mT5, UMT5: gated or not, with stacks of different depth, sometimes in the common spelling of the keys."""
    sizes = {"d_model": draw.randint(1, 20), "d_kv": draw.randint(1, 6), "num_heads": draw.randint(1, 4), "num_layers": draw.randint(0, 3)}
    if draw.random() < 0.3:
        names = {"d_model": "hidden_size", "num_heads": "num_attention_heads", "d_kv": "head_dim"}
        sizes = {names.get(key, key): value for key, value in sizes.items()}
    return {
        **sizes,
        "vocab_size": draw.randint(2, 90),
        "d_ff": draw.randint(1, 40),
        "num_decoder_layers": draw.choice((None, 0, 1, 2)),
        "relative_attention_num_buckets": draw.randint(1, 40),
        "feed_forward_proj": draw.choice(("relu", "prelu", "gated-gelu", "gated-silu", "gated-xielu")),
        "tie_word_embeddings": draw.random() < 0.7,
    } | labels(draw)


def bart(draw: random.Random) -> dict[str, Any]:
    """BART, mBART, PEGASUS, with different stacks."""
    heads = draw.choice((1, 2, 4))
    return {
        "vocab_size": draw.randint(3, 90),
        "max_position_embeddings": draw.randint(2, 40),
        "d_model": 4 * draw.randint(1, 5),
        "encoder_layers": draw.randint(0, 3),
        "encoder_ffn_dim": draw.randint(1, 40),
        "encoder_attention_heads": heads,
        "decoder_layers": draw.randint(0, 3),
        "decoder_ffn_dim": draw.randint(1, 40),
        "decoder_attention_heads": draw.choice((1, 2, 4)),
        "activation_function": draw.choice(ACTIVATIONS),
        "tie_word_embeddings": draw.random() < 0.7,
    } | labels(draw)


def marian(draw: random.Random) -> dict[str, Any]:
    """Marian, with one vocabulary or two."""
    config = bart(draw) | {"pad_token_id": 0}
    if draw.random() < 0.5:
        return config
    return config | {"share_encoder_decoder_embeddings": False, "decoder_vocab_size": draw.choice((None, 7, config["vocab_size"]))}


def whisper(draw: random.Random) -> dict[str, Any]:
    """Whisper, sometimes with weights for its layers."""
    config = bart(draw)
    del config["max_position_embeddings"]
    return config | {
        "pad_token_id": 0,
        "num_mel_bins": draw.randint(1, 9),
        "max_source_positions": draw.randint(1, 20),
        "max_target_positions": draw.randint(1, 20),
        "use_weighted_layer_sum": draw.random() < 0.5,
        "classifier_proj_size": draw.randint(1, 9),
    }


def patches(draw: random.Random) -> dict[str, Any]:
    """What vision transformers share; sizes that do not divide included."""
    config = {
        "image_size": draw.choice((28, 29, 40)),
        "patch_size": draw.choice((4, 7)),
        "num_channels": draw.randint(1, 4),
        "hidden_size": draw.randint(4, 20),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": draw.randint(1, 4),
        "intermediate_size": draw.randint(1, 40),
        "hidden_act": draw.choice(ACTIVATIONS),
    }
    return config | draw.choice(({}, {"head_dim": draw.randint(1, 9)}))


def deit(draw: random.Random) -> dict[str, Any]:
    """DeiT: ViT's keys."""
    return patches(draw) | {
        "patch_size": draw.choice((4, 7, [4, 6])),
        "pooler_act": draw.choice(("tanh", "prelu")),
        "qkv_bias": draw.random() < 0.5,
        "encoder_stride": draw.randint(1, 5),
        "pooler_output_size": draw.choice((None, 0, draw.randint(1, 30))),
        "num_labels": draw.randint(0, 5),
    }


def beit(draw: random.Random) -> dict[str, Any]:
    """BEiT with every kind of position and pooling."""
    return (
        patches(draw)
        | {
            "image_size": draw.choice((28, 29, [29, 36])),
            "vocab_size": draw.randint(2, 90),
            "use_mask_token": draw.random() < 0.5,
            "use_absolute_position_embeddings": draw.random() < 0.5,
            "use_relative_position_bias": draw.random() < 0.5,
            "use_shared_relative_position_bias": draw.random() < 0.5,
            "layer_scale_init_value": draw.choice((0.0, 0.1, 1e-5)),
            "use_mean_pooling": draw.random() < 0.5,
            "num_labels": draw.randint(0, 5),
        }
        | pyramid(draw)
    )


def pyramid(draw: random.Random) -> dict[str, Any]:
    """Four blocks whose maps make a pyramid, and heads that label pixels."""
    return {
        "num_hidden_layers": draw.randint(3, 5),
        "num_labels": draw.randint(1, 5),
        draw.choice(("out_indices", "segmentation_indices")): draw.choice(([0, 1, 2, 3], [0, 1, 2, -1])),
        "add_fpn": draw.random() < 0.5,
        "pool_scales": draw.choice(([1, 2, 3, 6], [1], [2, 2], [])),
        "use_auxiliary_head": draw.random() < 0.7,
        "auxiliary_channels": draw.randint(1, 9),
        "auxiliary_num_convs": draw.randint(0, 3),
        "auxiliary_concat_input": draw.random() < 0.5,
    }


def features(draw: random.Random, stages: int) -> dict[str, Any]:
    """Some of the stages, by name or by number, from the end or not; both or neither now and then."""
    chosen = sorted(draw.sample(range(stages + 1), draw.randint(1, stages + 1)))
    names = {"out_features": ["stem" if number == 0 else f"stage{number}" for number in chosen]}
    numbers = {"out_indices": [number - (stages + 1) * draw.randint(0, 1) for number in chosen]}
    return draw.choice(({}, names, numbers, names | {"out_indices": chosen}))


def dinov2(draw: random.Random) -> dict[str, Any]:
    """DINOv2, gated or not."""
    config = patches(draw)
    del config["intermediate_size"]
    return config | {
        "mlp_ratio": draw.randint(1, 5),
        "qkv_bias": draw.random() < 0.5,
        "use_swiglu_ffn": draw.random() < 0.5,
        "use_mask_token": draw.random() < 0.5,
        "num_labels": draw.randint(0, 5),
    }


def text_tower(draw: random.Random) -> dict[str, Any]:
    """A tower of CLIP or SigLIP that reads."""
    heads = draw.randint(1, 4)
    return {
        "vocab_size": draw.randint(2, 90),
        "hidden_size": heads * draw.randint(1, 5),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": heads,
        "intermediate_size": draw.randint(1, 40),
        "max_position_embeddings": draw.randint(1, 40),
        "hidden_act": draw.choice(ACTIVATIONS),
    }


def clip_text(draw: random.Random) -> dict[str, Any]:
    """CLIP's, with the width of its projection."""
    return text_tower(draw) | {"projection_dim": draw.randint(1, 20)}


def siglip_text(draw: random.Random) -> dict[str, Any]:
    """SigLIP's, with the width of its head."""
    return text_tower(draw) | {"projection_size": draw.choice((None, 7))}


def vision_tower(draw: random.Random) -> dict[str, Any]:
    """A tower that sees."""
    heads = draw.randint(1, 4)
    config = patches(draw) | {"hidden_size": heads * draw.randint(1, 5), "num_attention_heads": heads}
    return {key: value for key, value in config.items() if key != "head_dim"}


def clip_vision(draw: random.Random) -> dict[str, Any]:
    """CLIP's, with the width of its projection."""
    return vision_tower(draw) | {"projection_dim": draw.randint(1, 20)}


def siglip_vision(draw: random.Random) -> dict[str, Any]:
    """SigLIP's, with a head or without."""
    return vision_tower(draw) | {"vision_use_head": draw.random() < 0.7}


def clip(draw: random.Random) -> dict[str, Any]:
    """Both towers of CLIP."""
    towers = {"text_config": clip_text(draw), "vision_config": clip_vision(draw), "projection_dim": draw.randint(1, 20)}
    if draw.random() < 0.3:
        towers |= draw.choice(({"text_config_dict": clip_text(draw)}, {"vision_config_dict": clip_vision(draw)}))
    return towers | {"num_labels": draw.randint(0, 4)}


def siglip(draw: random.Random) -> dict[str, Any]:
    """Both towers of SigLIP."""
    return {"text_config": siglip_text(draw), "vision_config": siglip_vision(draw), "num_labels": draw.randint(0, 4)}


def deberta(draw: random.Random) -> dict[str, Any]:
    """DeBERTa-v2 with every kind of relative position, and without."""
    config = roberta(draw)
    for key in ("is_decoder", "add_cross_attention"):
        del config[key]
    optional = {
        "position_buckets": draw.choice((-1, 5)),
        "share_att_key": draw.random() < 0.5,
        "norm_rel_ebd": draw.choice(("none", "layer_norm", "Layer_Norm | x")),
        "conv_kernel_size": draw.choice((0, 3)),
        "embedding_size": draw.choice((config["hidden_size"], 7)),
        "pooler_hidden_size": draw.choice((config["hidden_size"], 5)),
    }
    return config | {
        "type_vocab_size": draw.choice((0, 2)),
        "relative_attention": draw.random() < 0.7,
        "max_relative_positions": draw.choice((-1, 9)),
        "position_biased_input": draw.random() < 0.5,
        "pos_att_type": draw.choice((None, "p2c|c2p", ["c2p"], ["p2c"])),
        "legacy": draw.random() < 0.6,
        **{key: value for key, value in optional.items() if draw.random() < 0.6},
    }


def hubert(draw: random.Random) -> dict[str, Any]:
    """HuBERT: what it shares with wav2vec 2.0, and the choices of its own."""
    return speech(draw) | {"feat_proj_layer_norm": draw.random() < 0.6, "conv_pos_batch_norm": draw.random() < 0.4}


def speech(draw: random.Random) -> dict[str, Any]:
    """Convolutions, positions and blocks."""
    heads, convolutions = draw.randint(1, 3), draw.randint(1, 4)
    return {
        "vocab_size": draw.randint(1, 40),
        "hidden_size": 2 * heads * draw.randint(1, 4),
        "num_hidden_layers": draw.randint(0, 3),
        "num_attention_heads": heads,
        "intermediate_size": draw.randint(1, 40),
        "hidden_act": draw.choice(ACTIVATIONS),
        "feat_extract_norm": draw.choice(("group", "layer")),
        "feat_extract_activation": draw.choice(ACTIVATIONS),
        "conv_dim": [draw.randint(1, 9) for _ in range(convolutions)],
        "conv_stride": [draw.randint(1, 4) for _ in range(convolutions)],
        "conv_kernel": [draw.randint(1, 5) for _ in range(convolutions)],
        "conv_bias": draw.random() < 0.5,
        "num_conv_pos_embeddings": draw.randint(1, 9),
        "num_conv_pos_embedding_groups": draw.choice((1, 2)),
        "do_stable_layer_norm": draw.random() < 0.5,
        "mask_time_prob": draw.choice((0, 0.0, 0.05)),
        "mask_feature_prob": draw.choice((0.0, 0.0, 0.1)),
        "use_weighted_layer_sum": draw.random() < 0.5,
        "classifier_proj_size": draw.randint(1, 9),
    } | labels(draw)


def wav2vec2(draw: random.Random) -> dict[str, Any]:
    """wav2vec 2.0 with adapters in its blocks and its quantizer."""
    groups = draw.randint(1, 3)
    return speech(draw) | {
        "adapter_attn_dim": draw.choice((None, 3)),
        "num_codevector_groups": groups,
        "num_codevectors_per_group": draw.randint(1, 9),
        "codevector_dim": groups * draw.randint(1, 4),
        "proj_codevector_dim": draw.randint(1, 9),
        "tdnn_dim": [draw.randint(1, 9) for _ in range(3)],
        "tdnn_kernel": [draw.randint(1, 5) for _ in range(3)],
        "tdnn_dilation": [1, 2, 1],
        "xvector_output_dim": draw.randint(1, 9),
    }


def convnext(draw: random.Random) -> dict[str, Any]:
    """ConvNeXt of one to four stages."""
    stages = draw.randint(1, 4)
    return {
        "num_channels": draw.randint(1, 4),
        "patch_size": draw.randint(1, 5),
        "num_stages": stages,
        "hidden_sizes": [draw.randint(1, 9) for _ in range(stages)],
        "depths": [draw.randint(1, 3) for _ in range(stages)],
        "hidden_act": draw.choice(ACTIVATIONS),
        "layer_scale_init_value": draw.choice((0.0, 1e-6)),
        "num_labels": draw.randint(0, 5),
    } | features(draw, stages)


def resnet(draw: random.Random) -> dict[str, Any]:
    """ResNet of basic blocks or bottlenecks, with a shortcut in the first stage or without."""
    widths = [draw.randint(4, 20) for _ in range(draw.randint(1, 4))]
    return {
        "num_channels": draw.randint(1, 4),
        "embedding_size": draw.choice((8, widths[0])),
        "hidden_sizes": widths,
        "depths": [draw.randint(1, 3) for _ in widths],
        "layer_type": draw.choice(("basic", "bottleneck")),
        "hidden_act": draw.choice(ACTIVATIONS),
        "downsample_in_first_stage": draw.random() < 0.5,
        "downsample_in_bottleneck": draw.random() < 0.5,
        "num_labels": draw.randint(0, 5),
    }


def swin(draw: random.Random) -> dict[str, Any]:
    """Swin of one to three stages, with positions or without."""
    stages = draw.randint(1, 3)
    return {
        "image_size": draw.choice((32, 33)),
        "patch_size": draw.choice((2, 4)),
        "num_channels": draw.randint(1, 4),
        "embed_dim": 4 * draw.randint(1, 4),
        "depths": [draw.randint(0, 3) for _ in range(stages)],
        "num_heads": [draw.choice((1, 2, 4)) for _ in range(stages)],
        "window_size": draw.randint(1, 5),
        "mlp_ratio": draw.choice((1.0, 2.0, 2.3, 2.4, 2.5, 3.3, 4)),
        "qkv_bias": draw.random() < 0.5,
        "hidden_act": draw.choice(ACTIVATIONS),
        "use_absolute_embeddings": draw.random() < 0.5,
        "encoder_stride": draw.randint(1, 5),
        "num_labels": draw.randint(0, 5),
    } | features(draw, stages)


def as_checkpoints_load(model: Any) -> ps.Layer:
    """Return the model with an output matrix of its own, as files hold it that say so and that the bare class does not heed."""
    untied = type(model)(**{**model.arguments()[1], "tie_word_embeddings": False})
    assert untied != model
    return untied


ENCODERS: dict[str, tuple[Any, str]] = {
    "albert": (albert, "AlbertConfig"),
    "distilbert": (distilbert, "DistilBertConfig"),
    "electra": (electra, "ElectraConfig"),
    "bart": (bart, "BartConfig"),
    "beit": (beit, "BeitConfig"),
    "clip": (clip, "CLIPConfig"),
    "clip_text_model": (clip_text, "CLIPTextConfig"),
    "clip_vision_model": (clip_vision, "CLIPVisionConfig"),
    "convnext": (convnext, "ConvNextConfig"),
    "deberta-v2": (deberta, "DebertaV2Config"),
    "deit": (deit, "DeiTConfig"),
    "dinov2": (dinov2, "Dinov2Config"),
    "marian": (marian, "MarianConfig"),
    "mbart": (bart, "MBartConfig"),
    "mt5": (t5, "MT5Config"),
    "pegasus": (bart, "PegasusConfig"),
    "resnet": (resnet, "ResNetConfig"),
    "siglip": (siglip, "SiglipConfig"),
    "siglip_text_model": (siglip_text, "SiglipTextConfig"),
    "siglip_vision_model": (siglip_vision, "SiglipVisionConfig"),
    "hubert": (hubert, "HubertConfig"),
    "swin": (swin, "SwinConfig"),
    "t5": (t5, "T5Config"),
    "umt5": (t5, "UMT5Config"),
    "wav2vec2": (wav2vec2, "Wav2Vec2Config"),
    "whisper": (whisper, "WhisperConfig"),
    "roberta": (roberta, "RobertaConfig"),
    "xlm-roberta": (roberta, "XLMRobertaConfig"),
}
"""By ``model_type``: how to draw a configuration, and its class."""
