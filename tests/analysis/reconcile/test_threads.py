"""Numbers that people ask about in public threads, each with words of the reason that was found for it there, or by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from amount import cases

import paramsym as ps

LLAMA, LLAMA_3, VIT = "meta-llama/Llama-2-7b-hf", "meta-llama/Meta-Llama-3-8B", "google/vit-base-patch16-224"
PARAMETERS, MACS, FLOPS, TRAINING, INFERENCE, CACHE = (
    "parameters",
    "MACs for an image",
    "FLOPs for an image",
    "memory of training",
    "memory of inference",
    "cache",
)
ACTIVATIONS = "activations of 32 texts of 1024 tokens"
QUESTIONS: dict[str, Callable[..., Any]] = {
    PARAMETERS: lambda model: model,
    MACS: lambda model, side=224: ps.macs(model, (1, 3, side, side)),
    FLOPS: lambda model: ps.flops(model, (1, 3, 224, 224)),
    TRAINING: lambda model, positions=2048: ps.memory(model, (1, positions), dtype="bfloat16"),
    INFERENCE: lambda model: ps.memory(model, (1, 2048), dtype="bfloat16", use="inference"),
    ACTIVATIONS: lambda model: ps.activations(model, (32, 1024), dtype="bfloat16"),
    CACHE: lambda model, positions: ps.kv_cache(model, (1, positions), dtype="bfloat16"),
}
THREADS: list[tuple[str, Any, int | str, str]] = [
    # OpenAI's paper against the files: 117M and 345M against 124M and 355M (openai/gpt-2, issue 209).
    ("gpt2", PARAMETERS, "117M", "vocabulary of the first GPT"),
    ("gpt2-medium", PARAMETERS, "345M", "vocabulary of the first GPT"),
    ("gpt2", PARAMETERS, "124M", "is right"),
    # The page of the model says 137M parameters: the file has a mask of 1024 by 1024 for each of 12 layers.
    ("gpt2", PARAMETERS, "137M", "a mask of P by P counted once per layer"),
    ("gpt2", PARAMETERS, "548 MB", "a mask of all pairs for each layer"),
    # nanoGPT prints "number of parameters: 123.59M": 50,304 words, bias=False, without positions; 124,475,904 - 102,144 - 786,432.
    ("gpt2", PARAMETERS, "123.59M", "without the biases, and without the table of positions"),
    ("gpt2", PARAMETERS, 123_587_328, "without the biases, and without the table of positions"),
    ("bert-base-uncased", PARAMETERS, "110M", "is right"),
    ("bert-base-uncased", PARAMETERS, 108_310_272, "bert-base-cased"),
    ("bert-base-uncased", PARAMETERS, 109_514_298, "BertForMaskedLM"),
    ("bert-base-uncased", PARAMETERS, 110_106_428, "BertForPreTraining"),
    (LLAMA, PARAMETERS, "6.74B", "is right"),
    (LLAMA, PARAMETERS, "13.48 GB", "bfloat16 or float16, 2 each"),
    (LLAMA, PARAMETERS, "12.55 GiB", "bfloat16 or float16, 2 each"),
    # Files that people name: TheBloke's GPTQ with groups of 128, and llama.cpp's q4_0 and q8_0.
    (LLAMA, PARAMETERS, "3.9 GB", "gptq-g128"),
    (LLAMA, PARAMETERS, "3.83 GB", "gguf-q4_0"),
    (LLAMA, PARAMETERS, "7.16 GB", "gguf-q8_0"),
    ("meta-llama/Llama-2-70b-hf", PARAMETERS, "35 GB", "half a byte for each of 70,000,000,000 parameters"),
    ("resnet50", PARAMETERS, "97.8 MB", "float32 with its buffers, 4 bytes each: 102,440,820, in units of 1024, and a header"),
    # peft prints "all params: 3,540,389,888" for a 4-bit model with adapters of rank 16 on every matrix.
    (LLAMA, PARAMETERS, 3_540_389_888, "adapters of rank 16 for every matrix of the blocks added, and the matrices of the blocks packed"),
    ("meta-llama/Meta-Llama-3-8B", PARAMETERS, "7.5B", "built with architecture='LlamaModel'"),
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "8x7B", "counted once per expert"),
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "12.9B", "what one token uses"),
    ("deepseek-ai/DeepSeek-V3", PARAMETERS, "685B", "num_nextn_predict_layers=1"),
    ("deepseek-ai/DeepSeek-V3", PARAMETERS, "37B", "what one token uses"),
    ("google/vit-base-patch16-224", PARAMETERS, "85.8M", "classifier left out"),
    ("google/vit-base-patch16-224", PARAMETERS, "86.6M", "is right"),
    ("resnet50", PARAMETERS, "23.5M", "fc left out"),
    ("resnet50", PARAMETERS, 25_636_712, "running statistics counted as well, and a bias counted for every matrix that has none"),
    ("t5-base", PARAMETERS, 247_577_856, "to which it is tied"),
    ("google/gemma-7b", PARAMETERS, "7.75B", "non-embedding"),
    # The cards of files of llama.cpp: a mix of formats; one of 128,256 words has a vocabulary of 8 MB.
    (LLAMA, PARAMETERS, "4.08 GB", "llama.cpp's Q4_K_M"),
    (LLAMA, PARAMETERS, "4.78 GB", "llama.cpp's Q5_K_M"),
    ("meta-llama/Llama-2-13b-hf", PARAMETERS, "7.87 GB", "llama.cpp's Q4_K_M"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, "4.37 GB", "llama.cpp's Q4_K_M"),
    (LLAMA_3, PARAMETERS, "4.58 GiB", "llama.cpp's Q4_K_M"),
    (LLAMA_3, PARAMETERS, "4.92 GB", "and a header"),
    # Files on the Hub: DistilBERT's has the masked head, GPT-2 XL's a mask for each layer; the card of gpt-oss has the sizes of its files.
    ("distilbert-base-uncased", PARAMETERS, "268 MB", "DistilBertForMaskedLM"),
    # microsoft/Phi-3-mini-4k-instruct-gguf, 2024: the fused projection in q5_k.
    ("microsoft/Phi-3-mini-4k-instruct", PARAMETERS, "2.39 GB", "llama.cpp's Q4_K_M of 2024: gguf-q4_k"),
    # The feed-forward networks of BERT as lectures count them: 12*(2*768*3072 + 3072 + 768).
    ("bert-base-uncased", PARAMETERS, 56_669_184, "only intermediate.dense and layer.{0..L-1}.output.dense counted"),
    ("roberta-base", PARAMETERS, 124_645_632 - 2 * 768, "without the two rows before the first position"),
    ("gpt2-xl", PARAMETERS, "6.43 GB", "a mask of all pairs for each layer"),
    ("openai/gpt-oss-20b", PARAMETERS, "12.8 GiB", "mxfp4"),
    ("openai/gpt-oss-120b", PARAMETERS, "60.8 GiB", "mxfp4"),
    ("vgg16", PARAMETERS, "528 MB", "in units of 1024"),  # Keras' table of applications
    # What peft and transformers print of 4-bit models and of adapters.
    (LLAMA_3, PARAMETERS, 4_540_600_320, "two numbers of 4 bits to a byte"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, 3_752_071_168, "two numbers of 4 bits to a byte"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, 6_815_744, "only adapters of rank 16 for queries and values"),
    (LLAMA_3, PARAMETERS, 3_407_872, "only adapters of rank 8 for queries and values"),
    ("bert-base-uncased", PARAMETERS, 294_912, "only adapters of rank 8 for queries and values"),
    (LLAMA, PARAMETERS, 39_976_960, "only adapters of rank 16 for every matrix"),
    (LLAMA, PARAMETERS, "0.5898 %", "only adapters of rank 16 for every matrix"),  # 39,976,960 of 6,778,392,576
    # Cards and reports: numbers without embeddings, and those that one token uses.
    ("EleutherAI/pythia-70m", PARAMETERS, 18_915_328, "embed_in and the weight of lm_head left out"),
    ("Qwen/Qwen2.5-7B", PARAMETERS, "6.53B", "embed_tokens and the weight of lm_head left out"),
    ("openai/gpt-oss-20b", PARAMETERS, "3.6B", "what one token uses"),
    ("openai/gpt-oss-120b", PARAMETERS, "5.1B", "what one token uses"),
    ("deepseek-ai/DeepSeek-V2", PARAMETERS, "21B", "what one token uses"),
    # Caches: of Llama-3-8B without groups, of Mistral without its window, of one token of DeepSeek-V3 (arXiv:2505.09343, table 1).
    (LLAMA_3, (CACHE, 8192), "4 GiB", "a key and a value for each of the 32 heads"),
    (LLAMA_3, (CACHE, 8192), "32 MiB", "only one of the 32 layers"),
    ("mistralai/Mistral-7B-v0.1", (CACHE, 32_768), "4 GiB", "windows ignored"),
    ("deepseek-ai/DeepSeek-V3", (CACHE, 1), "70.272 KB", "is right"),
    # Model cards and tools about one network: torchvision 4.09, fvcore 4.11, thop 4.13, and twice as much.
    ("resnet50", MACS, "4.09 GMACs", "is right"),
    ("resnet50", MACS, "4.11 GMACs", "counted as fvcore"),
    ("resnet50", MACS, 4_133_742_592, "counted as thop"),
    ("resnet50", MACS, "8.2 GFLOPs", "is right"),
    # timm's 16.87 was counted where attention is fused, which fvcore does not see; with it 17.58.
    (VIT, MACS, "16.87 GMACs", "counted as fvcore, without the pairs of queries and keys, which fused attention hides"),
    (VIT, MACS, "17.58 GMACs", "counted as fvcore"),
    ("vgg16", MACS, "15.5 GMACs", "is right"),
    ("vgg16", MACS, "30.9 GFLOPs", "is right"),
    # EfficientNet's table has 0.39B FLOPs, which are multiply-adds.
    ("efficientnet_b0", MACS, "0.39 GFLOPs", "with a multiply-add as one FLOP, is right"),
    # torchvision's table has numbers for 224 by 224, and Swin's, too.
    ("resnet50", (MACS, 256), "4.1 GMACs", "images of 224 by 224 in place of 256 by 256"),
    ("resnet50", (MACS, 288), 4_089_184_256, "images of 224 by 224 in place of 288 by 288"),
    # Networks for other pictures: torchvision's with 10 classes, pytorch-cifar's ResNet-18, the same for MNIST, chest X-rays.
    ("resnet18", PARAMETERS, 11_181_642, "10 classes in place of 1,000"),
    ("resnet18", PARAMETERS, 11_173_962, "a first convolution of 3 by 3, as for the small pictures of CIFAR"),
    ("resnet18", PARAMETERS, 11_175_370, "one channel, as of grey pictures"),
    ("resnet50", PARAMETERS, 23_528_522, "10 classes in place of 1,000"),
    ("vgg16", PARAMETERS, 134_301_514, "10 classes in place of 1,000"),
    ("mobilenet_v2", PARAMETERS, 2_236_682, "10 classes in place of 1,000"),
    ("efficientnet_b0", PARAMETERS, 4_020_358, "10 classes in place of 1,000"),
    ("densenet121", PARAMETERS, 6_968_206, "N = 14 in place of 1,000: a classifier has as many classes as its data"),
    ("resnet18", PARAMETERS, "11.2M", "fc left out"),
    (VIT, PARAMETERS, 85_806_346, "10 classes in place of 1,000"),
    (VIT, PARAMETERS, 102_595_923, "21843 classes in place of 1,000"),
    ("bert-base-uncased", PARAMETERS, 108_898_569, "BertForTokenClassification"),  # CoNLL's nine labels
    # TF-slim's table has 3.47M for MobileNetV2, without the norms.
    ("mobilenet_v2", PARAMETERS, "3.47M", "the norms left out"),
    # Parts alone: "1.0 billion of its 8 are embeddings"; GPT-2's table; VGG's layers behind the convolutions.
    (LLAMA_3, PARAMETERS, "1.0 billion", "only the table embed_tokens and the weight of lm_head counted"),
    (LLAMA_3, PARAMETERS, "525M", "only the table embed_tokens counted"),
    ("gpt2", PARAMETERS, "38.6M", "only the table wte counted"),
    ("vgg16", PARAMETERS, 102_764_544, "only classifier.0 counted"),
    # Cards of files: TheBloke's of Mixtral in 2023, where no matrix of the experts had more bits, and later ones of the same name.
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "26.44 GB", "llama.cpp's Q4_0: gguf-q4_0, with more bits for the output matrix, the keys"),
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "32.23 GB", "llama.cpp's Q5_0"),
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "28.45 GB", "llama.cpp's Q4_K_M"),
    ("mistralai/Mixtral-8x7B-v0.1", PARAMETERS, "33.23 GB", "llama.cpp's Q5_K_M"),
    (LLAMA, PARAMETERS, "3.86 GB", "llama.cpp's Q4_K_S"),
    (LLAMA, PARAMETERS, "3.30 GB", "llama.cpp's Q3_K_M"),
    (LLAMA, PARAMETERS, "2.95 GB", "llama.cpp's Q3_K_S"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, "3.82 GB", "llama.cpp's Q3_K_L"),
    (LLAMA_3, PARAMETERS, "3.18 GB", "llama.cpp's Q2_K"),
    (LLAMA_3, PARAMETERS, "5.70 GB", "bnb-nf4-double"),
    # The sizes of published files in bytes: numbers, a header, and the masks, heads or buffers that the model does not count.
    (LLAMA_3, PARAMETERS, 16_060_556_376, "bfloat16 or float16, 2 each: 16,060,522,496, and a header"),
    ("gpt2", PARAMETERS, 548_105_171, "a mask of all pairs for each layer"),
    ("bert-base-uncased", PARAMETERS, 440_449_768, "BertForPreTraining"),
    ("distilbert-base-uncased", PARAMETERS, 267_954_768, "DistilBertForMaskedLM"),
    ("resnet50", PARAMETERS, 102_530_333, "a file in float32 with its buffers"),
    ("resnet18", PARAMETERS, 46_830_571, "a file in float32 with its buffers"),
    (VIT, PARAMETERS, 346_293_852, "float32, 4 each: 346,270,624, and a header"),
    ("Qwen/Qwen3-30B-A3B", PARAMETERS, "18.6 GB", "llama.cpp's Q4_K_M"),
    ("Qwen/Qwen2.5-7B", PARAMETERS, "4.68 GB", "llama.cpp's Q4_K_M"),
    ("openai/clip-vit-base-patch32", PARAMETERS, "605 MB", "float32, 4 each"),
    ("openai/clip-vit-base-patch32", PARAMETERS, "63.2M", "only text_model counted"),
    ("bert-base-uncased", PARAMETERS, "108M", "bert-base-cased"),
    # The first of four stages of a pipeline has the embedding; LoRA of rank 256 on every matrix has 639,631,360.
    (LLAMA, PARAMETERS, 32_000 * 4096 + 8 * 202_383_360, "the first of 4 stages, with what is before the layers"),
    (LLAMA, PARAMETERS, 639_631_360, "only adapters of rank 256 for every matrix"),
    # A key of 128 and a value of 128 for each of 128 heads in 61 layers, in 16 bits, where DeepSeek-V3 keeps latent vectors.
    (
        "deepseek-ai/DeepSeek-V3",
        (CACHE, 1),
        61 * 2 * 128 * 128 * 2,
        "expanded to the keys and values of all heads, without the rotary part",
    ),
    # ZeRO over 8 devices (Rajbhandari et al. 2020, section 5): 4 + 12/8, 2 + 14/8 bytes for each parameter; the host keeps 12 (offload).
    (LLAMA, TRAINING, 6_738_415_616 * 4 + 6_738_415_616 * 12 // 8, "ZeRO's stage 1 over 8 devices, without activations and loss"),
    (LLAMA, TRAINING, 6_738_415_616 * 2 + 6_738_415_616 * 14 // 8, "ZeRO's stage 2 over 8 devices, without activations and loss"),
    (LLAMA, TRAINING, 6_738_415_616 * 4, "kept by the host (offload), without activations and loss"),
    (LLAMA, TRAINING, "18*N", "18 bytes for each of 6,738,415,616 parameters"),
    # LoRA as peft prints it: the fused matrix of GPT-2, BLOOM and Falcon, and a fine-tuned Mistral with its output matrix, in 4 bits.
    ("gpt2", PARAMETERS, 294_912, "rank 8 for the fused matrix of queries, keys and values"),
    ("gpt2", PARAMETERS, "0.2364 %", "rank 8 for the fused matrix of queries, keys and values"),
    ("bigscience/bloom-7b1", PARAMETERS, 7_864_320, "rank 16 for the fused matrix of queries, keys and values"),
    ("tiiuae/falcon-7b", PARAMETERS, 4_718_592, "rank 16 for the fused matrix of queries, keys and values"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, 21_260_288, "rank 8 for every matrix of the blocks and the output matrix"),
    ("mistralai/Mistral-7B-v0.1", PARAMETERS, 3_773_331_456, "rank 8 for every matrix of the blocks and the output matrix added"),
    # Caches of one token in units of 1024, for a key and a value of each head: 2 * 80 * 8192 * 2 and 2 * 32 * 4096 * 2 bytes.
    ("meta-llama/Llama-2-70b-hf", (CACHE, 1), "2.5 MB", "for each of the 64 heads, without groups"),
    (LLAMA_3, (CACHE, 1), "512 KB", "for each of the 32 heads, without groups"),
    ("Qwen/Qwen2.5-7B", (CACHE, 1), "56 KB", "is right if its unit is a power of 1024"),
    ("mistralai/Mistral-7B-v0.1", (CACHE, 8192), "1 GB", "windows ignored"),
    # Rajbhandari et al. 2020, section 3: GPT-2 of 1.5 billion parameters takes at least 24 GB.
    ("gpt2-xl", (TRAINING, 1024), "24 GB", "16 bytes for each of 1,500,000,000 parameters, cut off from 1,557,611,200"),
    # huggingface/peft issue 1020: 8,650,752 of 10,597,552,128 in 4 bits; huggingface/trl issue 2711: 6,755,192,832 with adapters.
    ("EleutherAI/gpt-neox-20b", PARAMETERS, 8_650_752, "rank 8 for the fused matrix of queries, keys and values"),
    ("EleutherAI/gpt-neox-20b", PARAMETERS, 10_597_552_128, "queries, keys and values added, and the matrices of the blocks packed"),
    (LLAMA, PARAMETERS, 6_755_192_832, "adapters of rank 32 for queries and values added"),
    # lukemelas/EfficientNet-PyTorch issue 40: "Params size (MB): 20.17" for 5.3M parameters.
    ("efficientnet_b0", PARAMETERS, "20.17 MB", "float32, 4 each: 21,154,192, in units of 1024"),
    # lm-sys/FastChat issue 1110: up to 20 bytes for each of 7 billion; AI-Hypercomputer/maxtext issue 606: 134 GB, or 12 bytes.
    (LLAMA, TRAINING, "140 GB", "20 bytes for each of 7,000,000,000"),
    (LLAMA, TRAINING, "134 GB", "20 bytes for each of 6,700,000,000"),
    (LLAMA, TRAINING, "80.4 GB", "12 bytes for each of 6,700,000,000"),
    # OpenLMLab/LOMO issue 16, from section 3.2 of the paper of ZeRO.
    ("gpt2-xl", ACTIVATIONS, "60 GB", "12 numbers of 2 bytes for each width, position and layer"),
    # The rule "parameters, bytes, and 20 % more": 168 GB for 70 billion in 16 bits.
    ("meta-llama/Llama-2-70b-hf", INFERENCE, "168 GB", "the weights in bfloat16 or float16, and a fifth more"),
    # Hugging Face's page of DeepSeek-V3: 684,531,386,000 numbers, of them 680,571,043,840 in 8 bits, and 41,555,600 in float32: scales
    # and buffers of routers. The files have a total_size of 688,586,727,753 bytes, with their headers.
    (
        "deepseek-ai/DeepSeek-V3",
        PARAMETERS,
        684_531_386_000,
        "num_nextn_predict_layers=1 in place of 0, what it shares stored again, the sc",
    ),
    ("deepseek-ai/DeepSeek-V3", PARAMETERS, 680_571_043_840, "only the numbers in 8 bits"),
    ("deepseek-ai/DeepSeek-V3", PARAMETERS, "684.5B", "num_nextn_predict_layers=1"),
    (
        "deepseek-ai/DeepSeek-V3",
        PARAMETERS,
        "688.6 GB",
        "num_nextn_predict_layers=1 in place of 0, what it shares stored again: 688,574,839,360",
    ),
    ("deepseek-ai/DeepSeek-V3", PARAMETERS, "688 GB", "688,574,839,360, cut off"),
    # sovrasov/flops-counter.pytorch issues 76 and 94: 4.12 for ResNet-50, with norms, activations and pools.
    ("resnet50", MACS, "4.12 GMACs", "counted as ptflops"),
    # Gemma's card and paper: 2B, with 1,981,884,416 non-embedding parameters (Gemma Team 2024, table 2).
    ("google/gemma-2b", PARAMETERS, "2B", "1,981,884,416, rounded: another convention, non-embedding"),
    (LLAMA, PARAMETERS, "6.6B", "without the table embed_tokens"),
    # ymcui/Chinese-LLaMA-Alpaca issue 189: "all params: 6889689088", with adapters of 4,194,304 parameters.
    (LLAMA, PARAMETERS, 6_885_494_784, "the vocabulary of Chinese-Alpaca"),
    (LLAMA, PARAMETERS, 6_889_689_088, "the vocabulary of Chinese-Alpaca, and adapters of rank 8 for queries and values added"),
    (LLAMA, PARAMETERS, 6_738_415_616 + 2 * 4 * 4096, "four tokens added, as fine-tuning does"),
    ("microsoft/swin-tiny-patch4-window7-224", PARAMETERS, "28M", "is right"),
    ("xlm-roberta-base", PARAMETERS, "278M", "is right"),
    # huggingface/blog issue 2345: 15.62 GB for "128k" tokens of Llama-3.1-8B, which are 128,000, in units of 1024.
    (LLAMA_3, (CACHE, 128_000), "15.62 GB", "is right if its unit is a power of 1024"),
    (LLAMA_3, (CACHE, 131_072), "15.62 GB", "S = 128,000 in place of 131,072: thousands for units of 1,024"),
    # abetlen/llama-cpp-python issue 66: "kv self size = 1560.00 MB", twice as much as in 16 bits.
    ("huggyllama/llama-30b", (CACHE, 512), "1560 MB", "numbers in float32, in units of 1024"),
    # CLIPVisionModelWithProjection and CLIPTextModelWithProjection of transformers.
    ("openai/clip-vit-base-patch32", PARAMETERS, 87_849_216, "only the part for pictures counted, with its projection"),
    ("openai/clip-vit-base-patch32", PARAMETERS, 63_428_096, "only the part for texts counted, with its projection"),
    # Keras' applications print these totals, with and without their tops.
    ("efficientnet_b0", PARAMETERS, 5_330_571, "7 numbers that normalise the colours, as in Keras' EfficientNets"),
    ("efficientnet_b0", PARAMETERS, 4_049_571, "7 numbers that normalise the colours, as in Keras' EfficientNets, and classifier left out"),
    ("mobilenet_v2", PARAMETERS, 3_538_984, "the running statistics counted as well"),
    ("mobilenet_v2", PARAMETERS, 2_257_984, "the running statistics counted as well, and classifier left out"),
    ("densenet121", PARAMETERS, 7_037_504, "the running statistics counted as well, and classifier left out"),
    ("resnet50", PARAMETERS, 23_587_712, "the running statistics counted as well, and fc left out, and a bias counted for every matrix"),
    # Files of models: Phi-2, BERT base; and those that people multiply: two bytes for each parameter.
    ("microsoft/phi-2", PARAMETERS, "5.56 GB", "bfloat16 or float16, 2 each"),
    ("bert-base-uncased", PARAMETERS, "438 MB", "float32, 4 each"),
    ("facebook/opt-13b", PARAMETERS, "26 GB", "the bytes of the numbers in bfloat16 or float16, 2 each"),
    ("huggyllama/llama-65b", PARAMETERS, "130 GB", "the bytes of the numbers in bfloat16 or float16, 2 each"),
    # He et al. 2016, table 1: 7.6e9 and 11.3e9 for ResNet-101 and ResNet-152, with early strides.
    ("resnet101", FLOPS, "7.6 GFLOPs", "strides in the first convolution"),
    ("resnet152", FLOPS, "11.3 GFLOPs", "strides in the first convolution"),
    # timm's and torchvision's tables call multiply-adds FLOPs.
    ("swin_t", FLOPS, "4.5 GFLOPs", "counted as multiply-adds"),
    (VIT, FLOPS, "17.6 GFLOPs", "counted as multiply-adds"),
    # Rules of thumb: so many bytes for each parameter of a model that is called 7B.
    (LLAMA, TRAINING, "112 GB", "16 bytes for each of 7,000,000,000 parameters"),
    (LLAMA, TRAINING, "84 GB", "12 bytes for each of 7,000,000,000"),
    (LLAMA, TRAINING, "56 GB", "8 bytes for each of 7,000,000,000 parameters, rounded from 6,738,415,616: the averages of Adam alone"),
    (LLAMA, INFERENCE, "14 GB", "2 bytes for each of 7,000,000,000"),
    (LLAMA, INFERENCE, "28 GB", "4 bytes for each of 7,000,000,000"),
    ("meta-llama/Llama-2-13b-hf", INFERENCE, "26 GB", "2 bytes for each of 13,000,000,000"),
]


@cases(20)
@pytest.mark.parametrize(("name", "question", "claim", "words"), THREADS, ids=str)
def test_threads(name: str, question: Any, claim: int | str, words: str) -> None:
    """The first answer has the reason."""
    asked, *more = question if isinstance(question, tuple) else (question,)
    assert words in str(ps.reconcile(QUESTIONS[asked](ps.load(name), *more), claim)[0])


def test_of_activations() -> None:
    """34sbh + 5as^2b for a block: for GPT-2, whose GELU is written with operators, with one kernel; in letters and in numbers."""
    for cost in (
        ps.activations(ps.models.Gpt2(), convention="korthikanti"),
        ps.activations(ps.load("gpt2"), (1, 64), convention="korthikanti"),
    ):
        assert "as one kernel, which keeps its input alone" in str(ps.reconcile(cost, "L*(34*B*S*H + 5*A*B*S**2)")[0])
    plain = ps.activations(ps.models.Gpt2(activation_function="gelu"), convention="korthikanti")
    assert "the repeated blocks alone" in str(ps.reconcile(plain, "L*(34*B*S*H + 5*A*B*S**2)")[0])


@cases(0)
def test_of_inputs() -> None:
    """One of many texts, images or tokens, all experts, and recomputation: 48 inputs of 1024 by 1600 numbers of two bytes remain."""
    assert "one image in place of 8" in str(ps.reconcile(ps.macs(ps.load("resnet18"), (8, 3, 224, 224)), "1.8 GMACs")[0])
    few = ps.activations(ps.load("gpt2"), (1, 256)).count
    assert "one text in place of 8" in str(ps.reconcile(ps.activations(ps.load("gpt2"), (8, 256)), few)[0])
    token = ps.flops(ps.load("mistralai/Mixtral-8x7B-v0.1"), (1, 4096), way="both", per="token")
    assert "those of all experts too" in str(ps.reconcile(token, 6 * 46_702_792_704)[0])
    large = ps.activations(ps.load("gpt2-xl"), (1, 1024), convention="korthikanti")
    outside = 5 * 1024 * 1600  # masks, and what the last norm keeps
    assert "full recomputation" in str(ps.reconcile(large, 48 * 1024 * 1600 * 2 + outside)[0])


def test_of_neurons() -> None:
    """Table 1 and the text of LeCun et al. 1998: the first layer of LeNet-5 has 122,304 connections and 28 by 28 units in 6 maps."""
    first = ps.macs(ps.Conv2d(1, 6, 5), (1, 1, 32, 32))
    assert str(ps.reconcile(first, "122,304 connections")[0]) == "122,304 connections is right: 122,304 connections"
    assert "is right: 4,704 units" in str(ps.reconcile(first, "4.7 thousand neurons")[0])
    assert not ps.reconcile(first, "5000 neurons")


@pytest.mark.parametrize("claim", ["45B", "43.2B"])
def test_no_file_for_parameters(claim: str) -> None:
    """A rounded number that only a file has is no reason for a number of parameters; nobody reads 14,336 as 14,000 either."""
    answer = str(ps.reconcile(ps.load("mistralai/Mixtral-8x7B-v0.1"), claim))
    assert "file" not in answer
    assert "thousands" not in answer


@pytest.mark.parametrize("name", ["gpt2", "meta-llama/Llama-2-7b-hf"])
def test_no_bytes_for_a_share(name: str) -> None:
    """Half of the parameters are parameters: their bytes in 4 bits, which are as many, are no reason for a percentage."""
    assert "bits" not in str(ps.reconcile(ps.load(name), "50 % fewer"))


def test_attention_alone() -> None:
    """12*4*(768*768 + 768) numbers of BERT are its attention, and also the first halves of its feed-forward networks."""
    answers = ps.reconcile(ps.load("bert-base-uncased"), 12 * 4 * (768 * 768 + 768))
    assert [str(answer).partition(": ")[2] for answer in answers[:2]] == [
        "only intermediate counted",
        "only query, key, value and attention.output.dense counted",
    ]
