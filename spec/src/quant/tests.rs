use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::blocks::{Edge, Scales, edges, random};
use super::layout::Role;
use super::numbers::nearest_f32;
use super::*;
use crate::types::{ScaleKind, TENSOR_TYPES};

/// Draws of one property, for each type.
const DRAWS: usize = 50;

fn ty(name: &str) -> &'static TensorType {
    TensorType::from_name(name).expect("a type")
}

fn size(ty: &TensorType) -> (usize, usize) {
    let (_, block, bytes) = format_of(ty).expect("a layout");
    (block, bytes)
}

fn decoded(ty: &TensorType, blocks: &[u8]) -> Vec<f32> {
    let (block, bytes) = size(ty);
    let mut out = vec![0.0; blocks.len() / bytes * block];
    decode(ty, blocks, &mut out).expect("whole blocks");
    out
}

fn encoded(ty: &TensorType, values: &[f32]) -> Vec<u8> {
    let (block, bytes) = size(ty);
    let mut out = vec![0xA5; values.len() / block * bytes];
    encode(ty, values, &mut out).expect("whole blocks");
    out
}

#[expect(clippy::cast_precision_loss, reason = "the language rounds to the nearest")]
fn nearest_to(number: i64) -> f32 {
    number as f32
}

fn encoders() -> impl Iterator<Item = &'static TensorType> {
    TensorType::live().filter(|ty| ty.format.is_some_and(Format::has_encoder))
}

#[test]
fn fields_tile_their_blocks() {
    for ty in TensorType::live() {
        let fields = ty.format.expect("a format").fields;
        let end = fields.iter().fold(0, |end, field| {
            assert_eq!(field.offset, end, "{} {}", ty.name, field.name);
            assert_eq!(8 * field.bytes % field.bits as usize, 0, "{} {}", ty.name, field.name);
            end + field.bytes
        });
        assert_eq!(end as u64, ty.bytes, "{}", ty.name);
    }
}

#[test]
fn parts_hold_every_bit_of_a_block_once() {
    for ty in TensorType::live() {
        let mut holders = vec![0; 8 * size(ty).1];
        for (_, place) in ty.format.expect("a format").places(|_| true) {
            place.bit_ranges().flatten().for_each(|bit| holders[bit] += 1);
        }
        assert!(holders.iter().all(|&count| count == 1), "{}: {holders:?}", ty.name);
    }
}

#[test]
fn places_give_back_what_they_were_given() {
    let mut rng = ChaCha8Rng::seed_from_u64(11);
    for ty in TensorType::live() {
        let mut block = vec![0; size(ty).1];
        let written: Vec<_> = ty
            .format
            .expect("a format")
            .places(|_| true)
            .map(|(_, place)| {
                let number = rng.random::<u64>() >> (64 - place.bits());
                place.write(&mut block, number);
                (place, number)
            })
            .collect();
        assert!(written.iter().all(|&(place, number)| place.read(&block) == number), "{}", ty.name);
    }
}

/// The widest sums: what the comment at [`Weight`] says of 53 bits.
#[test]
fn components_sum_without_rounding() {
    let mut rng = ChaCha8Rng::seed_from_u64(12);
    for ty in TensorType::live().filter(|ty| ty.quantized) {
        for _ in 0..DRAWS {
            let block = random(ty, &mut rng, &Scales::Exponents(-24..=15)).expect("a block");
            let mut out = vec![Weight::default(); size(ty).0];
            weights(ty, &block, &mut out).expect("one block");
            for weight in out {
                let value = weight.value();
                // What rounding left over, found without further rounding (Knuth's two-sum).
                let product = value - weight.offset;
                let left = (weight.product - product) + (weight.offset - (value - product));
                assert!(left == 0.0 || !value.is_finite(), "{}: {weight:?} leaves {left}", ty.name);
            }
        }
    }
}

/// Of the types without an f32 scale, a product has no more bits than an f32.
#[test]
fn products_fit_an_f32() {
    let mut rng = ChaCha8Rng::seed_from_u64(13);
    for ty in TensorType::live().filter(|ty| ty.quantized && ty.name != "Q8_K") {
        let ordinary = if ty.name == "MXFP4" { -120..=120 } else { -14..=15 };
        for _ in 0..DRAWS {
            let block = random(ty, &mut rng, &Scales::Exponents(ordinary.clone())).expect("a block");
            let mut out = vec![Weight::default(); size(ty).0];
            weights(ty, &block, &mut out).expect("one block");
            for part in out.iter().flat_map(|weight| [weight.product, weight.offset]) {
                assert_eq!(f64::from(nearest_f32(part)).to_bits(), part.to_bits(), "{}: {part}", ty.name);
            }
        }
    }
}

#[test]
fn any_bytes_decode() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    for ty in TensorType::live() {
        for _ in 0..DRAWS {
            decoded(ty, &random(ty, &mut rng, &Scales::Any).expect("a block"));
        }
        decoded(ty, &vec![0xFF; size(ty).1]);
    }
}

/// The largest distance between a value and its code's, in units of the stored scale: half a step, and
/// what rounding the scale and the minimum to binary16 can add for the codes of the type.
fn reach(ty: &TensorType) -> Option<f64> {
    Some(match ty.name {
        "Q4_0" | "Q4_1" | "Q5_0" | "Q5_1" => 0.6,
        // 127 codes from the scale, whose 11 bits are half a place off at most.
        "Q8_0" | "Q8_1" => 0.57,
        "Q8_K" | "Q2_0" | "TQ1_0" | "TQ2_0" => 0.502,
        _ => return None,
    })
}

fn drawn_values(ty: &TensorType, rng: &mut ChaCha8Rng) -> Vec<f32> {
    (0..size(ty).0).map(|_| rng.random_range(-1.0..1.0)).collect()
}

#[test]
fn a_decoded_code_is_within_half_a_step() {
    let mut rng = ChaCha8Rng::seed_from_u64(15);
    for ty in encoders() {
        let Some(reach) = reach(ty) else { continue };
        // In these two, the codes go one step less far on one side, so that the last one has more to cover.
        let last = match ty.name {
            "Q4_0" => 7.0,
            "Q5_0" => 15.0,
            _ => f64::INFINITY,
        };
        for _ in 0..DRAWS {
            let values = drawn_values(ty, &mut rng);
            let block = encoded(ty, &values);
            let mut places = ty.format.expect("a format").places(|role| matches!(role, Role::Scale(_)));
            let Some((Role::Scale(kind), place)) = places.next() else { panic!("{}: no scale", ty.name) };
            let scale = kind.value(place.read(&block));
            for (&value, weight) in values.iter().zip(decoded(ty, &block)) {
                let (code, wanted) = (f64::from(weight) / scale, f64::from(value) / scale);
                let reach = if (code - last).abs() < 0.001 && wanted > code { 1.05 } else { reach };
                assert!((code - wanted).abs() <= reach, "{}: {value} became {weight}, scale {scale}", ty.name);
            }
        }
    }
}

/// The codes of four-bit floats are not evenly spaced, and those of Q1_0 are two: none is nearer than the
/// one that was chosen.
#[test]
fn no_other_code_is_nearer() {
    let mut rng = ChaCha8Rng::seed_from_u64(16);
    for ty in ["MXFP4", "NVFP4", "Q1_0"].map(ty) {
        let values = drawn_values(ty, &mut rng);
        let block = encoded(ty, &values);
        let weights = decoded(ty, &block);
        let codes = ty.format.expect("a format").places(|role| role == Role::Code);
        for (i, (_, place)) in codes.enumerate() {
            for code in 0..1 << place.bits() {
                let mut other = block.clone();
                place.write(&mut other, code);
                let error = |weight: f32| (weight - values[i]).abs();
                assert!(error(weights[i]) <= error(decoded(ty, &other)[i]), "{}: {}: {code}", ty.name, values[i]);
            }
        }
    }
}

#[test]
fn plain_floats_round_trip() {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    for ty in ["F16", "BF16", "F32", "F64"].map(ty) {
        for _ in 0..DRAWS {
            let block = random(ty, &mut rng, &Scales::Exponents(-14..=15)).expect("a block");
            assert_eq!(encoded(ty, &decoded(ty, &block)), block, "{}", ty.name);
        }
    }
}

/// Every stored scale is the one nearest to its own value.
#[test]
fn scales_round_trip() {
    let again = |kind: ScaleKind, code| kind.nearest(nearest_f32(kind.value(code)));
    for code in (0..=0xFFFF).filter(|&code| !ScaleKind::F16.value(code).is_nan()) {
        assert_eq!(again(ScaleKind::F16, code), code);
    }
    for code in 1..=0xFE {
        assert_eq!(again(ScaleKind::E8M0, code), code);
    }
    // As ggml writes it, UE4M3 has no sign and nothing between 240 and 448.
    for code in (0..0x78).chain([0x7E]) {
        assert_eq!(again(ScaleKind::Ue4M3, code), code);
    }
}

#[test]
fn integers_become_the_nearest_f32() {
    let long = |number: i64| decoded(ty("I64"), &number.to_le_bytes())[0];
    // One above the middle of two neighbours: rounding to f64 first would make it the middle.
    for number in [0, -1, i64::MAX, i64::MIN, (1 << 62) + (1 << 38) + 1, -(1 << 62) - (1 << 38) - 1, (1 << 53) + 1] {
        assert_eq!(long(number).to_bits(), nearest_to(number).to_bits(), "{number}");
    }
    assert_eq!(decoded(ty("I8"), &[0x80, 0x7F]), [-128.0, 127.0]);
    assert_eq!(decoded(ty("I16"), &[0, 0x80]), [-32768.0]);
    assert_eq!(decoded(ty("I32"), &i32::MAX.to_le_bytes()), [2_147_483_648.0]);
    assert_eq!(decoded(ty("F64"), &1e300_f64.to_le_bytes()), [f32::INFINITY]);
}

proptest! {
    #[test]
    fn integers_of_64_bits_are_rounded_once(number: i64, shift in 0..64_u32) {
        let number = number >> shift;
        prop_assert_eq!(decoded(ty("I64"), &number.to_le_bytes())[0].to_bits(), nearest_to(number).to_bits());
    }

    #[test]
    fn any_values_encode(bits in proptest::collection::vec(any::<u32>(), 256)) {
        let values: Vec<f32> = bits.iter().map(|&bits| f32::from_bits(bits)).collect();
        for ty in encoders() {
            let block = encoded(ty, &values[..size(ty).0]);
            prop_assert_eq!(block.len() as u64, ty.bytes);
        }
    }
}

#[test]
fn equality_is_that_of_bits_but_for_zeros_and_nans() {
    assert!(same(0.0, -0.0));
    assert!(same(f32::NAN, -f32::NAN));
    assert!(!same(f32::INFINITY, f32::NEG_INFINITY));
    assert!(!same(1.0, 1.0 + f32::EPSILON));
    assert!(!same(0.0, f32::NAN));
}

#[test]
fn infinite_scales_make_nan_of_zero_and_infinity_of_the_rest() {
    let mut block = vec![0x88; 18];
    block[..2].copy_from_slice(&0x7C00_u16.to_le_bytes());
    block[2] = 0x8F;
    let weights = decoded(ty("Q4_0"), &block);
    assert_eq!(weights[0].to_bits(), f32::INFINITY.to_bits());
    assert!(weights[1].is_nan());
}

#[test]
fn lengths_are_checked() {
    let q4_0 = ty("Q4_0");
    let text = |result: Result<(), QuantError>| result.expect_err("an error").to_string();
    assert_eq!(
        text(decode(q4_0, &[0; 19], &mut [0.0; 32])),
        "Q4_0: expected whole blocks of 18 bytes, found 19; pass all of every block"
    );
    assert_eq!(
        text(decode(q4_0, &[0; 36], &mut [0.0; 32])),
        "Q4_0: expected an output of 64 values, found 32; make it that long"
    );
    assert_eq!(
        text(encode(q4_0, &[0.0; 31], &mut [0; 18])),
        "Q4_0: expected whole blocks of 32 values, found 31; pass all of every block"
    );
    assert_eq!(
        text(encode(ty("Q4_K"), &[0.0; 256], &mut [0; 144])),
        "Q4_K: there is no encoder; draw blocks with quant::blocks, or use ggml's"
    );
    for removed in TENSOR_TYPES.iter().filter(|ty| !ty.has_layout()) {
        assert_eq!(decode(removed, &[], &mut []), Err(QuantError::Removed { ty: removed.name }));
    }
    assert_eq!(decode(q4_0, &[], &mut []), Ok(()));
}

#[test]
fn edges_are_as_many_as_there_are_values() {
    let count = |name, edge| edges(ty(name), edge).expect("a layout").len();
    for (name, scales, sub_scales, codes, grid, signs) in [
        ("F32", 18, 0, 0, 0, 0),
        ("I8", 0, 0, 0, 0, 0),
        ("Q4_0", 18, 0, 16, 0, 0),
        ("Q5_1", 36, 0, 32, 0, 0),
        ("Q8_1", 18, 0, 256, 0, 0),
        ("Q2_K", 36, 256 / 16, 4, 0, 0),
        ("Q3_K", 18, 64 / 16, 8, 0, 0),
        ("Q4_K", 36, 4096 / 8, 16, 0, 0),
        ("Q6_K", 18, 256 / 16, 64, 0, 0),
        ("Q8_K", 18, 0, 256, 0, 0),
        ("IQ1_S", 18, 1, 0, 2048, 2),
        ("IQ1_M", 18, 1, 0, 2048, 2),
        ("IQ2_XXS", 18, 2, 0, 256, 128),
        ("IQ2_XS", 18, 1, 0, 512, 128),
        ("IQ2_S", 18, 1, 0, 1024, 256),
        ("IQ3_XXS", 18, 2, 0, 256, 128),
        ("IQ3_S", 18, 2, 0, 512, 256),
        ("IQ4_XS", 18, 64 / 8, 16, 0, 0),
        ("TQ1_0", 18, 0, 256, 0, 0),
        ("MXFP4", 256, 0, 16, 0, 0),
        ("NVFP4", 256, 0, 16, 0, 0),
        ("Q1_0", 18, 0, 2, 0, 0),
    ] {
        assert_eq!(Edge::ALL.map(|edge| count(name, edge)), [scales, sub_scales, codes, grid, signs], "{name}");
    }
}

/// A sweep is what it says: every place of the role has held every number.
#[test]
fn edges_bring_every_number_to_every_place() {
    for ty in TensorType::live() {
        for (edge, role) in [(Edge::Codes, Role::Code), (Edge::Grid, Role::Grid), (Edge::Signs, Role::Signs)] {
            let blocks = edges(ty, edge).expect("a layout");
            for (_, place) in ty.format.expect("a format").places(|is| is == role) {
                let mut seen: Vec<_> = blocks.iter().map(|block| place.read(block)).collect();
                seen.sort_unstable();
                seen.dedup();
                assert_eq!(seen.len(), 1 << place.bits(), "{} {role:?}", ty.name);
            }
        }
    }
}

#[test]
fn drawn_blocks_have_the_scales_they_were_told() {
    let mut rng = ChaCha8Rng::seed_from_u64(17);
    for ty in TensorType::live().filter(|ty| ty.quantized) {
        let scales = |block: &[u8]| -> Vec<f64> {
            let places = ty.format.expect("a format").places(|role| matches!(role, Role::Scale(_)));
            let value = |(role, place): (Role, Place)| match role {
                Role::Scale(kind) => kind.value(place.read(block)),
                _ => unreachable!("no scale"),
            };
            places.map(value).collect()
        };
        for _ in 0..DRAWS {
            let block = random(ty, &mut rng, &Scales::exact(0.25)).expect("a block");
            assert!(scales(&block).iter().all(|scale| scale.to_bits() == 0.25_f64.to_bits()), "{}", ty.name);
            let block = random(ty, &mut rng, &Scales::Exponents(-3..=2)).expect("a block");
            // Rounding up may make a scale the next power of two.
            assert!(scales(&block).iter().all(|scale| (0.125..=8.0).contains(&scale.abs())), "{}", ty.name);
            assert!(disputed(ty, &block).is_none(), "{}", ty.name);
        }
    }
}

#[test]
fn disputes_are_found() {
    let names: Vec<_> = DISPUTES.iter().map(|dispute| dispute.ty).collect();
    assert!(names.iter().all(|name| TensorType::from_name(name).is_some()));
    let mut mxfp4 = vec![0; 17];
    assert!(disputed(ty("MXFP4"), &mxfp4).is_none());
    mxfp4[0] = 0xFF;
    assert_eq!(disputed(ty("MXFP4"), &mxfp4).map(|dispute| dispute.blocks), Some("e = 0xFF"));
    let mut rng = ChaCha8Rng::seed_from_u64(18);
    for name in ["Q8_1", "Q8_K"] {
        let values: Vec<f32> = (0..size(ty(name)).0).map(|_| rng.random_range(-1.0..1.0)).collect();
        let mut block = encoded(ty(name), &values);
        assert!(disputed(ty(name), &block).is_none(), "{name}");
        let codes = ty(name).format.expect("a format").places(|role| role == Role::Code);
        for (_, place) in codes.take(16) {
            place.write(&mut block, 0x7F);
        }
        assert!(disputed(ty(name), &block).is_some(), "{name}");
    }
}

/// The first side of a dispute is what the decoder gives, for disputed scales and all codes.
#[test]
fn the_first_side_of_a_dispute_is_the_decoder() {
    let mut rng = ChaCha8Rng::seed_from_u64(19);
    for (name, scales) in [("MXFP4", 1), ("NVFP4", 4)] {
        let ty = ty(name);
        let (weights, bytes) = size(ty);
        let mut told = 0;
        for _ in 0..2_000 {
            let mut block: Vec<u8> = (0..bytes).map(|_| rng.random()).collect();
            block[0] = [0x7F, 0xFF, rng.random()][rng.random_range(0..3)];
            let mut values = vec![0.0; weights];
            decode(ty, &block, &mut values).expect("a block");
            for (i, value) in values.iter().enumerate() {
                let Some((dispute, readings)) = readings(ty, &block, i) else { continue };
                assert_eq!((dispute.ty, readings.len()), (name, dispute.sides.len()));
                assert!(same(readings[0], *value), "{name}: {i} of {block:02x?}");
                told += 1;
            }
            let any = block[..scales].iter().any(|&scale| scale == 0xFF || name == "NVFP4" && scale >= 0x7F);
            assert_eq!(disputed(ty, &block).is_some(), any, "{block:02x?}");
        }
        assert!(told > 1_000, "{name}: {told}");
    }
}
