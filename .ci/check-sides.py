"""Runs what the disputes of scales (`spec/src/quant/disputes.rs`) say of ml_dtypes: all scales of both kinds."""

import ml_dtypes
import numpy as np

SCALES = np.arange(256, dtype=np.uint8)


def decoded(kind):
    return SCALES.view(kind).astype(np.float64)


def unsigned(scale):
    """The seven bits of UE4M3: four of exponent with bias 7, three of mantissa."""
    exponent, mantissa = scale >> 3 & 15, scale & 7
    return mantissa * 2.0**-9 if exponent == 0 else (8 + mantissa) * 2.0 ** (exponent - 10)


e8m0 = [2.0 ** (scale - 127) for scale in range(255)] + [np.nan]
np.testing.assert_array_equal(decoded(ml_dtypes.float8_e8m0fnu), e8m0)

positive = [unsigned(scale) for scale in range(127)] + [np.nan]
np.testing.assert_array_equal(decoded(ml_dtypes.float8_e4m3fn), positive + [-value for value in positive])
print(f"ml_dtypes {ml_dtypes.__version__}: E8M0 0xFF is NaN; E4M3 has a sign, 0x7F and 0xFF are NaN")
