//! The golden decodes: that the specification agrees with them, and that they hold every edge.

use std::collections::BTreeSet;
use std::path::Path;

use assay_corpus::golden::Golden;
use gguf_spec::quant::{self, Place, Role};
use gguf_spec::types::{ScaleKind, TensorType};

fn goldens() -> Vec<Golden> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    Golden::load_all(&corpus).unwrap()
}

fn blocks(golden: &Golden) -> impl Iterator<Item = &[u8]> {
    golden.blocks.chunks_exact(usize::try_from(golden.ty.bytes).unwrap())
}

#[test]
fn the_specification_decodes_what_others_decode() {
    for golden in goldens() {
        let mut weights = vec![0.0; golden.values.len()];
        quant::decode(golden.ty, &golden.blocks, &mut weights).unwrap();
        let size = weights.len() / blocks(&golden).count();
        for (i, (&ours, &theirs)) in weights.iter().zip(&golden.values).enumerate() {
            let (block, theirs) = (i / size, f32::from_bits(theirs));
            assert!(
                quant::same(ours, theirs),
                "{} {}: weight {} of block {block}: expected {theirs:e} ({}), found {ours:e}",
                golden.ty.name,
                golden.groups.iter().find(|group| group.blocks().contains(&block)).unwrap().name,
                i % size,
                golden.producers[0].name,
            );
        }
    }
}

#[test]
fn two_programs_stand_behind_every_type_that_two_programs_decode() {
    for golden in goldens() {
        let names: Vec<&str> = golden.producers.iter().map(|producer| producer.name.as_str()).collect();
        let expected: &[&str] = match golden.ty.name {
            "F32" => &["gguf"],
            "Q8_K" | "Q1_0" | "Q2_0" => &["ggml"],
            "Q8_1" | "I8" | "I16" | "I32" | "I64" | "F64" => &["derived"],
            _ => &["ggml", "gguf"],
        };
        assert_eq!(names, expected, "{}", golden.ty.name);
    }
}

/// What numbers stand in these places, in all blocks.
fn found(golden: &Golden, places: &[Place]) -> BTreeSet<u64> {
    blocks(golden).flat_map(|block| places.iter().map(|place| place.read(block))).collect()
}

fn places(ty: &TensorType, is: impl Fn(Role) -> bool) -> Vec<Place> {
    ty.format.unwrap().places(is).map(|(_, place)| place).collect()
}

#[test]
fn every_small_number_has_every_value() {
    let mut looked_at = 0;
    for golden in goldens().iter().filter(|golden| golden.ty.quantized) {
        for role in [
            Role::Code,
            Role::Grid,
            Role::Signs,
            Role::Shift,
            Role::SubScale,
            Role::SubMin,
            Role::Scale(ScaleKind::E8M0),
            Role::Scale(ScaleKind::Ue4M3),
        ] {
            let places = places(golden.ty, |other| other == role);
            let Some(bits) = places.first().map(|place| place.bits()) else { continue };
            let found = found(golden, &places).len();
            assert_eq!(found, 1 << bits, "{}: {role:?} has {found} values of {bits} bits", golden.ty.name);
            looked_at += 1;
        }
    }
    assert!(looked_at > 40, "{looked_at}");
}

#[test]
fn every_pair_of_sub_scale_and_minimum_occurs() {
    for name in ["Q2_K", "Q4_K", "Q5_K"] {
        let golden = goldens().into_iter().find(|golden| golden.ty.name == name).unwrap();
        let scales = places(golden.ty, |role| role == Role::SubScale);
        let mins = places(golden.ty, |role| role == Role::SubMin);
        let pairs: BTreeSet<_> = blocks(&golden)
            .flat_map(|block| scales.iter().zip(&mins).map(|(scale, min)| (scale.read(block), min.read(block))))
            .collect();
        assert_eq!(pairs.len(), 1 << (scales[0].bits() + mins[0].bits()), "{name}");
    }
}

#[test]
fn every_float_is_at_its_edges() {
    let (mut halves, mut singles) = (0, 0);
    for golden in goldens() {
        let floats = golden.ty.format.unwrap().places(|role| matches!(role, Role::Scale(_) | Role::Value));
        for (role, place) in floats {
            // Zero, the least and the largest subnormal, the least normal, the largest finite, infinity, a NaN.
            let edges: &[u64] = match (role, golden.ty.name) {
                (Role::Scale(ScaleKind::F16 | ScaleKind::SplitF16), _) | (_, "F16") => {
                    // The scale of a stored sum is not one that is multiplied.
                    halves += 1;
                    &[0, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0x7E00]
                }
                (Role::Scale(ScaleKind::F32), _) | (_, "F32") => {
                    singles += 1;
                    &[0, 1, 0x7F_FFFF, 0x80_0000, 0x7F7F_FFFF, 0x7F80_0000, 0x7FC0_0000]
                }
                _ => continue,
            };
            let found = found(&golden, &[place]);
            for &edge in edges {
                for code in [edge, edge | 1 << (place.bits() - 1)] {
                    assert!(found.contains(&code), "{}: {role:?} is never {code:#x}", golden.ty.name);
                }
            }
        }
    }
    assert!(halves > 25 && singles == 2, "{halves} {singles}");
}
