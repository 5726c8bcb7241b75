//! Every tensor type with data, every value type alone and in an array, in both byte orders.

use gguf_spec::generate::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
use gguf_spec::rules::{header, tensors};
use gguf_spec::syntax::{ByteOrder, Value};
use gguf_spec::types::{TENSOR_TYPES, TypeStatus, VALUE_TYPES, ValueType};

use super::{Definition, Group, bytes};

pub(super) fn define() -> Vec<Definition> {
    let mut group = Group::new("types", "type");
    tensor_types(&mut group);
    value_types(&mut group);
    unassigned(&mut group);
    group.list
}

fn tensor_types(group: &mut Group) {
    for ty in &TENSOR_TYPES {
        let name = ty.name.to_lowercase().replace('_', "-");
        let mut builder = Builder::new();
        builder.set(pair("general.quantization_version", scalar(ValueType::U32, 2)));
        builder.fill = u8::try_from(ty.id).unwrap_or(0).wrapping_mul(37);
        match ty.status {
            TypeStatus::Removed => {
                builder.add(tensor("t", ty.id, &[256]));
                group
                    .push(
                        format!("type-{:02}-{name}", ty.id),
                        format!("Tensor type {} ({}), which was removed.", ty.id, ty.name),
                        bytes(&builder),
                    )
                    .breaks(&[&tensors::TYPE_REMOVED]);
                // A removed type has a block size of 0: a reader that divides by it ends here.
                let mut empty = builder.clone();
                empty.tensors.clear();
                empty.add(tensor("t", ty.id, &[0]));
                group
                    .push(
                        format!("type-{:02}-{name}-empty", ty.id),
                        format!("An empty tensor of the removed type {} ({}).", ty.id, ty.name),
                        bytes(&empty),
                    )
                    .breaks(&[&tensors::TYPE_REMOVED])
                    .flags(&["empty-tensor"]);
            }
            TypeStatus::Live | TypeStatus::Newer => {
                // Two rows of one block, and behind it a float that shows where the data ends.
                builder.add(tensor("t", ty.id, &[ty.block, 2])).add(tensor("after", 0, &[1]));
                let purpose = format!(
                    "Tensor type {} ({}): blocks of {} weights in {} bytes.",
                    ty.id, ty.name, ty.block, ty.bytes
                );
                let definition = group.push(format!("type-{:02}-{name}", ty.id), purpose, bytes(&builder));
                if ty.status == TypeStatus::Newer {
                    definition.breaks(&[&tensors::TYPE_DOCUMENT]).flags(&["newer-type"]);
                } else {
                    definition.keeps(&[&tensors::TYPE_KNOWN]);
                }
            }
        }
    }
}

/// A number of each type whose bytes all differ.
fn telling(ty: ValueType) -> u64 {
    match ty {
        ValueType::Bool => 1,
        ValueType::F32 => 0x4049_0FDB,
        ValueType::F64 => 0x4009_21FB_5444_2D18,
        ValueType::U8 | ValueType::I8 => 0x81,
        ValueType::U16 | ValueType::I16 => 0x8102,
        ValueType::U32 | ValueType::I32 => 0x8102_0304,
        _ => 0x8102_0304_0506_0708,
    }
}

fn value_types(group: &mut Group) {
    for row in &VALUE_TYPES {
        let (single, several): ((u32, Value), (u32, Value)) = match row.ty {
            ValueType::String => (string("text ▁"), string_array(&["", "a", "▁"])),
            ValueType::Array => continue,
            ty => {
                let all = u64::MAX >> (64 - 8 * row.size.unwrap_or(8));
                let numbers = match ty {
                    ValueType::Bool => vec![1, 0, 1],
                    ValueType::F32 => vec![0x4049_0FDB, 0, 0x8000_0000, 0x7F80_0000],
                    ValueType::F64 => vec![0x4009_21FB_5444_2D18, 0, 1 << 63],
                    _ => vec![telling(ty), 0, all, all >> 1, (all >> 1) + 1],
                };
                (scalar(ty, telling(ty)), array(fixed_array(ty, &numbers)))
            }
        };
        for (shape, value) in [("value", single), ("array", several)] {
            for byte_order in [ByteOrder::Little, ByteOrder::Big] {
                let mut builder = Builder { byte_order, ..Builder::new() };
                builder.set(pair("x.v", value.clone())).set(pair("x.after", scalar(ValueType::U16, 0x0102)));
                let name = row.name;
                let order = byte_order.name();
                let noun = if shape == "value" { "A value" } else { "An array" };
                let purpose = format!("{noun} of type {name}, {order}-endian, and a pair behind it.");
                let definition = group.push(format!("{shape}-{name}-{order}"), purpose, bytes(&builder));
                if byte_order == ByteOrder::Big {
                    definition.breaks(&[&header::BYTE_ORDER]).flags(&["big-endian"]);
                }
            }
        }
    }
}

fn unassigned(group: &mut Group) {
    use gguf_spec::rules::metadata;
    for id in [14u32, 15, 255, 256, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
        let value = (id, Value::Fixed(vec![1, 0, 0, 0, 0, 0, 0, 0]));
        group
            .push(
                format!("value-type-{id}"),
                format!("A value of type {id}, which is not assigned."),
                bytes(Builder::new().set(pair("x.v", value))),
            )
            .breaks(&[&metadata::TYPE_KNOWN]);
    }
    for id in [44u32, 64, 100, 107, 255, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF] {
        group
            .push(
                format!("tensor-type-{id}"),
                format!("A tensor of type {id}, which ggml never assigned."),
                bytes(Builder::new().add(tensor("t", id, &[256]))),
            )
            .breaks(&[&tensors::TYPE_KNOWN]);
    }
}
