//! The chapter of the specification on what is in a block of tensor data.

use std::fmt::{Result, Write as _};

use gguf_spec::quant::formats::{iq4_nl::LEVELS, mxfp4::E2M1};
use gguf_spec::quant::grids::{GRIDS, Grid};
use gguf_spec::quant::{DISPUTES, Format, Part, Place, Role};
use gguf_spec::types::TensorType;

pub(super) fn chapter(page: &mut String) -> Result {
    intro(page)?;
    writeln!(page, "\n### Plain numbers\n\n| type | bytes | a value is |\n| --- | --- | --- |")?;
    for ty in TensorType::live().filter(|ty| !ty.quantized) {
        let meaning = ty.format.map_or("", |format| format.fields[0].meaning);
        writeln!(page, "| {} | {} | {meaning} |", ty.name, ty.bytes)?;
    }
    for ty in TensorType::live().filter(|ty| ty.quantized) {
        if let Some(format) = ty.format {
            blocks_of(page, ty, format)?;
        }
    }
    levels(page)?;
    disputes(page)
}

fn intro(page: &mut String) -> Result {
    writeln!(
        page,
        "\n## What is in a block\n\n\
         A row of a tensor is a number of whole blocks. The fields of a block follow one another without padding;\n\
         numbers of several bytes are little-endian, and floats are IEEE 754. In the formulas, `q` is the code of the\n\
         weight, and `d`, `dmin` and a plain `m` (of Q4_1 and Q5_1) are the stored floats of those names. What has a\n\
         `[g]` belongs to group g of the weights of a block: `sc[g]` is its sub-scale and `m[g]` its sub-minimum, both\n\
         integers, and `d[g]` (of NVFP4) its scale, a float. Groups follow one another and are equally long: weight i\n\
         is in group i / 32 where a sub-scale is for 32 weights. A number of which nothing else is said is unsigned.\n\
         Everything is counted from 0. Bit 0 of a byte or of a number is the lowest; nibble 0 of a byte is the low one,\n\
         bits 0-3, nibble 1 the high one; in a field of numbers of two bits, `bits 2 n` are bits 2 n and 2 n + 1.\n\
         Source: `ggml-common.h` for fields and tables; the functions\n\
         `dequantize_row_*` and `quantize_row_*_ref` of the ggml 0.25.1 library, run, for what becomes of them.\n\n\
         Below the fields of a type, where bytes are counted from the start of a field, a second table tells where\n\
         the numbers lie, counted from the start of the block: `2:0-3` are the lowest four bits of byte 2, and\n\
         `8:0-3 + 0:6-7` is a number whose lowest bits are the first. Listed are the first two and the last one; of\n\
         integers that belong to groups and are torn apart, all. `for weights` is how many weights, one after the other,\n\
         share each number.\n\n\
         What a decoder has to give is the value of the formula, computed exactly and rounded once to f32. Every\n\
         product of a scale, of at most 11 significant bits, and the integers of a formula fits the 24 bits of an f32,\n\
         and nothing but the sum of two is ever rounded: it does not matter whether a program fuses multiplication and\n\
         addition, or in which order it multiplies. Results are compared bit for bit, with these exceptions:\n\n\
         - `Q8_K` has a scale of 24 bits; its one product is rounded once.\n\
         - `F64` and integers wider than 24 bits are rounded once, to the nearest f32.\n\
         - Zeros are equal whatever their sign, and so are all NaNs.\n\
         - Zero times infinity is NaN, and what is over the range of f32 is infinite.\n\
         - [Some blocks](#disputed-blocks) mean different things to different programs.\n\n\
         In Rust, `gguf_spec::quant` has all of this: `decode`, `weights` (the two terms of each weight, in f64),\n\
         `encode` for the types whose encoder has a closed form (it writes what ggml's reference quantizer does, bit for\n\
         bit), and `blocks`, which draws blocks under chosen scales and lists the edges of every type. On the command\n\
         line: `cargo run --release -p gguf-spec --example quant -- decode TYPE < blocks > f32`."
    )
}

fn blocks_of(page: &mut String, ty: &TensorType, format: &Format) -> Result {
    let functions = if format.has_encoder() { "`decode` and `encode`" } else { "`decode`" };
    writeln!(
        page,
        "\n### {}\n\n{} weights in {} bytes: `{}`. `gguf_spec::quant` has {functions}.\n\n\
         | field | at byte | bytes | unit, in bits | what it says |\n| --- | --- | --- | --- | --- |",
        ty.name, ty.block, ty.bytes, format.formula
    )?;
    for field in format.fields {
        writeln!(
            page,
            "| `{}` | {} | {} | {} | {} |",
            field.name, field.offset, field.bytes, field.bits, field.meaning
        )?;
    }
    writeln!(page, "\n| numbers | how many | for weights | bits | where |\n| --- | --- | --- | --- | --- |")?;
    for part in format.parts {
        let (count, bits, shared) = (part.count, part.place(0).bits(), shared(ty, part));
        writeln!(page, "| {} | {count} | {shared} | {bits} | {} |", name(part.role), places(part))?;
    }
    Ok(())
}

fn name(role: Role) -> &'static str {
    match role {
        Role::Value => "value",
        Role::Scale(_) => "floating-point scale",
        Role::SubScale => "sub-scale",
        Role::SubMin => "sub-minimum",
        Role::Code => "code",
        Role::Grid => "grid index",
        Role::Signs => "signs",
        Role::Shift => "shift",
        Role::FloatSum(_) | Role::IntSum => "sum",
    }
}

/// How many weights share a number. Bytes of ternary digits hold several codes, which their field takes apart.
fn shared(ty: &TensorType, part: &Part) -> String {
    let count = part.count as u64;
    match part.role {
        Role::Code if count != ty.block => "-".to_owned(),
        _ => (ty.block / count).to_string(),
    }
}

fn places(part: &Part) -> String {
    let scattered = |index| part.place(index).bit_ranges().count() > 1;
    let scales = matches!(part.role, Role::SubScale | Role::SubMin);
    let all = part.count <= 4 || scales && (0..part.count).any(scattered);
    let shown = |index: &usize| all || *index < 2 || *index == part.count - 1;
    let mut list: Vec<_> = (0..part.count).filter(shown).map(|index| place(part.place(index))).collect();
    if !all {
        list.insert(2, "..".to_owned());
    }
    list.join(", ")
}

/// Runs within a byte as `byte:bits`, whole bytes without bits.
fn place(place: Place) -> String {
    let run = |run: std::ops::Range<usize>| {
        let (first, last) = (run.start / 8, (run.end - 1) / 8);
        let (from, to) = (run.start % 8, (run.end - 1) % 8);
        match (first == last, from, to) {
            (true, 0, 7) => first.to_string(),
            (true, _, _) if from == to => format!("{first}:{from}"),
            (true, _, _) => format!("{first}:{from}-{to}"),
            (false, 0, 7) => format!("{first}-{last}"),
            (false, _, _) => format!("{first}:{from} to {last}:{to}"),
        }
    };
    place.bit_ranges().map(run).collect::<Vec<_>>().join(" + ")
}

/// What the capital names in the formulas are.
fn levels(page: &mut String) -> Result {
    let list = |numbers: &[f32]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let e2m1 = E2M1.map(|doubled| f32::from(doubled) / 2.0);
    writeln!(
        page,
        "\n### Levels and grids\n\n\
         - `E2M1`, by code: {}.\n\
         - `LEVEL`, by code: {}.\n\
         - `GRID` is one coordinate of a point of the grid of the type. A grid index names a point; the coordinates of\n  \
           the point are for as many weights, the first for the first. The table has a file for each grid: line n of it,\n  \
           counted from 0, is point n, and has its coordinates in order, as the numbers that go into the formula. The\n  \
           same grids are [in Rust](src/quant/grids) as one number a point: a digit for each coordinate, as wide as the\n  \
           table says, the first coordinate in the lowest bits; digit 0 is the first level.\n\
         - `with signs`: a bit a weight, set for minus. Bit 0 is that of the first of the eight weights, bit 7 that of the\n  \
           last. Where seven bits tell the signs of eight weights, they are bits 0 to 6, and bit 7 is set so that the\n  \
           number of minus signs is even.\n\n\
         | grid of | points | coordinates | levels | bits of a digit in Rust | file |\n\
         | --- | --- | --- | --- | --- | --- |",
        list(&e2m1),
        list(&LEVELS.map(f32::from))
    )?;
    for grid in GRIDS {
        let levels = grid.levels.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (points, coordinates, bits) = (grid.points.len(), grid.coordinates, grid.digit_bits());
        let file = grid_file(grid);
        writeln!(page, "| {} | {points} | {coordinates} | {levels} | {bits} | [{file}](grids/{file}) |", grid.name)?;
    }
    Ok(())
}

/// The name of the file that has the points of a grid: that of the first type which uses it.
fn grid_file(grid: &Grid) -> String {
    format!("{}.csv", grid.name.split(',').next().unwrap_or(grid.name))
}

/// The points of every grid, for any language, by the name of their file in `spec/grids`: a line for each point, with
/// its coordinates in order, as comma-separated decimal numbers.
pub(crate) fn grids() -> impl Iterator<Item = (String, String)> {
    GRIDS.iter().map(|grid| {
        let point =
            |index| (0..grid.coordinates).map(|i| grid.value(index, i).to_string()).collect::<Vec<_>>().join(",");
        (grid_file(grid), (0..grid.points.len() as u64).map(|index| point(index) + "\n").collect())
    })
}

fn disputes(page: &mut String) -> Result {
    writeln!(
        page,
        "\n### Disputed blocks\n\n\
         No decoder is wrong for being on one of these sides. What is marked as run was seen; the rest was\n\
         read in sources.\n\n\
         | type | blocks | who | says |\n| --- | --- | --- | --- |"
    )?;
    for dispute in &DISPUTES {
        for side in dispute.sides {
            writeln!(page, "| {} | {} | {} | {} |", dispute.ty, dispute.blocks, side.who, side.says)?;
        }
    }
    Ok(())
}
