//! Which features a generated file may have.

use rand::{Rng, RngExt};
use rand_chacha::ChaCha8Rng;

use super::build::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use crate::rules::keys::{KEYS, KeyType};
use crate::syntax::{Pair, Value};
use crate::types::{TensorType, TypeStatus, VALUE_TYPES, ValueType};

/// Defines the features once: the struct and how each is drawn.
macro_rules! features {
    ($($(#[doc = $doc:literal])+ $name:ident,)*) => {
        /// Which features a generated file may have, and how many things at most. Only upper bounds
        /// are drawn: a lower bound would keep small files, which break readers best, from being made.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: bool,)*
            /// At most this many pairs beside the required ones.
            pub most_pairs: usize,
            /// At most this many tensors.
            pub most_tensors: usize,
            /// At most this many elements in an array, bytes in a string.
            pub most_elements: usize,
        }

        impl Config {
            /// Draws a configuration: each feature is on in half of all seeds.
            pub fn draw(rng: &mut ChaCha8Rng) -> Self {
                Self {
                    $($name: rng.random_bool(0.5),)*
                    most_pairs: rng.random_range(0..12),
                    most_tensors: rng.random_range(0..6),
                    most_elements: rng.random_range(0..20),
                }
            }

            /// Everything on, with these bounds.
            #[must_use]
            pub fn everything(most_pairs: usize, most_tensors: usize, most_elements: usize) -> Self {
                Self { $($name: true,)* most_pairs, most_tensors, most_elements }
            }
        }
    };
}

features! {
    /// A stated alignment.
    alignment,
    /// Keys of the document's General section.
    general_keys,
    /// Tokenizer keys with arrays of equal length.
    tokenizer,
    /// Arrays of numbers and bools.
    arrays,
    /// Strings and arrays of strings.
    strings,
    /// Text outside ASCII, and NULs in text.
    odd_text,
    /// Numbers at the ends of their range, infinities and NaNs.
    extreme_numbers,
    /// Block formats.
    quantized,
    /// Tensors with a dimension of 0.
    empty_tensors,
    /// Tensors without dimensions.
    scalar_tensors,
    /// Three and four dimensions.
    many_dims,
    /// Tensor names of up to 63 bytes.
    long_names,
    /// Bytes after the last tensor.
    trailing_bytes,
}

impl Config {
    /// A valid file with these features, not yet finished.
    pub(super) fn builder(&self, rng: &mut ChaCha8Rng) -> Builder {
        let mut builder = Builder::new();
        builder.fill = rng.random();
        if self.alignment {
            let alignment = 8u64 << rng.random_range(0..6);
            builder.set(pair("general.alignment", scalar(ValueType::U32, alignment)));
        }
        if self.quantized {
            builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
        }
        if self.general_keys {
            for row in KEYS.iter().filter(|row| row.name.starts_with("general.")).skip(3) {
                if rng.random_bool(0.1) {
                    builder.set(self.standard_pair(row.ty, &row.example(), rng));
                }
            }
        }
        if self.tokenizer {
            self.add_tokenizer(&mut builder, rng);
        }
        for i in 0..rng.random_range(0..=self.most_pairs) {
            let key = format!("{}.k{i}", ["x", "test.nested", "a_b.c_1"][rng.random_range(0..3)]);
            builder.set(pair(key, self.value(rng)));
        }
        for i in 0..rng.random_range(0..=self.most_tensors) {
            builder.add(self.tensor(i, rng));
        }
        builder
    }

    fn standard_pair(&self, ty: KeyType, key: &str, rng: &mut ChaCha8Rng) -> Pair {
        let value = match ty {
            KeyType::Scalar(ValueType::String) => string(self.text(rng)),
            KeyType::Scalar(ty) => scalar(ty, u64::from(rng.random::<u8>())),
            KeyType::Array(_) if key == "general.languages" => string_array(&["en", "de"]),
            KeyType::Array(_) => string_array(&[self.text(rng), self.text(rng)]),
        };
        pair(key, value)
    }

    fn add_tokenizer(&self, builder: &mut Builder, rng: &mut ChaCha8Rng) {
        let n = rng.random_range(0..=self.most_elements);
        let tokens: Vec<_> = (0..n).map(|_| self.text(rng)).collect();
        let scores: Vec<_> = (0..n).map(|_| u64::from(rng.random::<u32>())).collect();
        let types: Vec<_> = (0..n).map(|_| rng.random_range(1..=6)).collect();
        builder.set(pair("tokenizer.ggml.model", string("llama")));
        builder.set(pair("tokenizer.ggml.tokens", string_array(&tokens)));
        builder.set(pair("tokenizer.ggml.scores", array(fixed_array(ValueType::F32, &scores))));
        builder.set(pair("tokenizer.ggml.token_type", array(fixed_array(ValueType::I32, &types))));
        builder.set(pair("tokenizer.ggml.bos_token_id", scalar(ValueType::U32, 1)));
    }

    fn text(&self, rng: &mut ChaCha8Rng) -> Vec<u8> {
        let n = rng.random_range(0..=self.most_elements);
        let mut text = String::new();
        while text.len() < n {
            match rng.random_range(0..8) {
                0 if self.odd_text => text.push_str(["\0", "é", "▁", "😀", "\n"][rng.random_range(0..5)]),
                _ => text.push(char::from(rng.random_range(b' '..=b'~'))),
            }
        }
        text.into_bytes()
    }

    fn bits(&self, ty: ValueType, rng: &mut ChaCha8Rng) -> u64 {
        let width = 8 * ty.size().unwrap_or(8);
        let all = u64::MAX >> (64 - width);
        match ty {
            ValueType::Bool => u64::from(rng.random::<bool>()),
            _ if self.extreme_numbers => match rng.random_range(0..6) {
                0 => 0,
                1 => all,
                2 => all >> 1,
                3 => (all >> 1) + 1,
                4 => 0x7F80_0001,
                _ => rng.next_u64(),
            },
            ValueType::F32 => u64::from(rng.random::<f32>().to_bits()),
            ValueType::F64 => rng.random::<f64>().to_bits(),
            _ => rng.random_range(0..100),
        }
    }

    fn value(&self, rng: &mut ChaCha8Rng) -> (u32, Value) {
        let kind = rng.random_range(0..4);
        if self.strings && kind == 0 {
            return string(self.text(rng));
        }
        let n = rng.random_range(0..=self.most_elements);
        if self.strings && self.arrays && kind == 1 {
            let strings: Vec<_> = (0..n).map(|_| self.text(rng)).collect();
            return string_array(&strings);
        }
        let fixed: Vec<_> = VALUE_TYPES.iter().filter(|row| row.size.is_some()).map(|row| row.ty).collect();
        let ty = fixed[rng.random_range(0..fixed.len())];
        if self.arrays && kind == 2 {
            let bits: Vec<_> = (0..n).map(|_| self.bits(ty, rng)).collect();
            return array(fixed_array(ty, &bits));
        }
        scalar(ty, self.bits(ty, rng))
    }

    fn tensor(&self, i: usize, rng: &mut ChaCha8Rng) -> crate::syntax::TensorInfo {
        let types: Vec<_> = TensorType::live()
            .filter(|ty| ty.status == TypeStatus::Live && (self.quantized || !ty.quantized))
            .collect();
        let ty = types[rng.random_range(0..types.len())];
        let mut name = format!("blk.{i}.weight");
        if self.long_names {
            let n = rng.random_range(name.len()..=63);
            name = format!("{name:x<n$}");
        }
        let mut dims = vec![ty.block * rng.random_range(1..=3)];
        if self.many_dims {
            for _ in 0..rng.random_range(0..=3) {
                dims.push(rng.random_range(1..=3));
            }
        }
        if self.scalar_tensors && ty.block == 1 && rng.random_bool(0.2) {
            dims.clear();
        } else if self.empty_tensors && rng.random_bool(0.2) {
            let j = rng.random_range(0..dims.len());
            dims[j] = 0;
        }
        tensor(name, ty.id, &dims)
    }
}
