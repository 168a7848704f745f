"""The door for people who think in Keras' spelling: same arguments, same kind of value, what Keras stores.

``ps.keras.LSTM(units=32, input_shape=(None, 10, 16))`` is the layer that ``ps.LSTM(16, 32, dialect="keras")`` is.
"""

from __future__ import annotations

from importlib import import_module

_HOMES = {
    "dense": "Dense EinsumDense",
    "embedding": "Embedding ReversibleEmbedding",
    "normalization": "GroupNormalization LayerNormalization Normalization RMSNormalization UnitNormalization",
    "batch_norm": "BatchNormalization",
    "activation": "Activation ELU LeakyReLU PReLU ReLU Softmax",
    "dropout": (
        "ActivityRegularization AlphaDropout Dropout GaussianDropout GaussianNoise SpatialDropout1D SpatialDropout2D SpatialDropout3D"
    ),
    "padding": "Cropping1D Cropping2D Cropping3D ZeroPadding1D ZeroPadding2D ZeroPadding3D",
    "pooling": (
        "AdaptiveAveragePooling1D AdaptiveAveragePooling2D AdaptiveAveragePooling3D AdaptiveMaxPooling1D "
        "AdaptiveMaxPooling2D AdaptiveMaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D AvgPool1D "
        "AvgPool2D AvgPool3D GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D GlobalAvgPool1D "
        "GlobalAvgPool2D GlobalAvgPool3D GlobalMaxPool1D GlobalMaxPool2D GlobalMaxPool3D GlobalMaxPooling1D "
        "GlobalMaxPooling2D GlobalMaxPooling3D MaxPool1D MaxPool2D MaxPool3D MaxPooling1D MaxPooling2D MaxPooling3D"
    ),
    "resampling": "UpSampling1D UpSampling2D UpSampling3D",
    "reshaping": "Flatten Identity Masking Permute RepeatVector Rescaling Reshape",
    "convolution": "Conv1D Conv1DTranspose Conv2D Conv2DTranspose Conv3D Conv3DTranspose",
    "separable": "DepthwiseConv1D DepthwiseConv2D SeparableConv1D SeparableConv2D",
    "recurrent": "GRU GRUCell LSTM LSTMCell SimpleRNN SimpleRNNCell",
    "conv_lstm": "ConvLSTM1D ConvLSTM2D ConvLSTM3D",
    "wrappers": "Bidirectional SpectralNormalization TimeDistributed",
    "attention": "AdditiveAttention Attention GroupQueryAttention MultiHeadAttention",
}
_HOME_OF = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    """Load a door from its file, once."""
    if name in _HOME_OF:
        value = getattr(import_module(f"paramsym.keras.{_HOME_OF[name]}"), name)
        globals()[name] = value
        return value
    message = f"module 'paramsym.keras' has no attribute {name!r}; it has {', '.join(sorted(_HOME_OF))}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    """List the doors, loaded or not."""
    return sorted(_HOME_OF)
