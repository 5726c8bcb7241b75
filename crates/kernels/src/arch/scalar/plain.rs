//! Plain numbers, with activations as they are. Products are made in binary64, so that weights that have more bits
//! than a binary32 are exact there; each product and each sum is rounded to binary32.

use super::blocks;

macro_rules! plain {
    ($number:ty, $decode:ident, $dot:ident, $what:literal) => {
        #[doc = concat!("Rows of ", $what, ".")]
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "to the nearest binary32")]
        #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one loop for all")]
        pub(super) fn $decode(row: &[u8], out: &mut [f32]) {
            blocks::decode::<{ size_of::<$number>() }, 1>(row, out, |bytes, out| {
                out[0] = <$number>::from_le_bytes(*bytes) as f32;
            });
        }

        #[doc = concat!("Products of ", $what, ".")]
        #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "roundings of the contract")]
        #[allow(clippy::cast_lossless, trivial_numeric_casts, reason = "one loop for all")]
        pub(super) fn $dot(row: &[u8], activations: &[f32]) -> f32 {
            let weights = row.as_chunks().0.iter().map(|&bytes| <$number>::from_le_bytes(bytes) as f64);
            weights.zip(activations).fold(0.0, |sum, (w, &x)| sum + (w * f64::from(x)) as f32)
        }
    };
}

plain!(f32, decode_f32, dot_f32, "binary32");
plain!(f64, decode_f64, dot_f64, "binary64");
plain!(i8, decode_i8, dot_i8, "bytes");
plain!(i16, decode_i16, dot_i16, "16-bit integers");
plain!(i32, decode_i32, dot_i32, "32-bit integers");
plain!(i64, decode_i64, dot_i64, "64-bit integers");
