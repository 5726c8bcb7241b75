//! Which scales and values are looked at, compared with `ggml_validate_row_data`: blocks of every
//! type, random but for one number, must be refused by both or by neither. Where the two differ on
//! purpose, the list below says so, and a difference that is not in it, or an entry that is not seen,
//! fails.
//!
//! Runs where `ASSAY_GGML_DIR` names the directory of ggml's base library; elsewhere the test is
//! ignored, and a line says so. The library runs in a child process: the program starts itself again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use assay_providers::ggml::Library;
use assay_scan::Kernel;
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::{ScaleKind, TensorType};
use libtest_mimic::{Arguments, Failed, Trial};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const CHILD: &str = "__validate";

/// Where ggml 0.25.1 and the scan differ on purpose: the type, whether it is ggml that refuses (else it
/// takes what the scan notices), and why.
const DIFFERENCES: [(&str, bool, &str); 3] = [
    ("Q8_1", true, "ggml refuses all data of this type: it is one of activations, which it stores in no file"),
    ("F64", true, "ggml turns each value into an F32 first, so that those beyond its range are infinite to it"),
    ("NVFP4", false, "ggml looks at no scale of this type; its code for CPUs reads the NaN 0x7F as zero"),
];

/// A file for the child: the type in four bytes, the number of blocks in four, then the blocks; again
/// and again. The answer is a byte for each block: 1 if ggml takes it.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    if let [_, word, directory, file] = arguments.as_slice()
        && word == CHILD
    {
        return child(directory, file);
    }
    let ggml = std::env::var_os("ASSAY_GGML_DIR").map(PathBuf::from);
    if ggml.is_none() {
        println!("not run: ASSAY_GGML_DIR does not name the directory of ggml's base library");
    }
    let ignored = ggml.is_none();
    let test = move || compare(&ggml.ok_or("not run: ASSAY_GGML_DIR is not set")?);
    let trial = Trial::test("the_scan_and_ggml_look_at_the_same_numbers", test).with_ignored_flag(ignored);
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit_code()
}

fn child(directory: &OsStr, file: &OsStr) -> ExitCode {
    let (Ok(library), Ok(bytes)) = (Library::load(Path::new(directory)), std::fs::read(file)) else {
        return ExitCode::FAILURE;
    };
    let mut answers = Vec::new();
    let mut rest = bytes.as_slice();
    while let Some((head, after)) = rest.split_first_chunk::<8>() {
        let (id, count) = head.split_at(4);
        let (id, count) = (ByteOrder::Little.number(id), ByteOrder::Little.number(count));
        let Some(ty) = u32::try_from(id).ok().and_then(TensorType::from_id) else { return ExitCode::FAILURE };
        let (Ok(size), Ok(count)) = (usize::try_from(ty.bytes), usize::try_from(count)) else {
            return ExitCode::FAILURE;
        };
        let (blocks, after) = after.split_at(size * count);
        answers.extend(blocks.chunks_exact(size).map(|block| u8::from(library.validates(ty, block))));
        rest = after;
    }
    match std::io::stdout().write_all(&answers) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Numbers of a kind that are finite, and that are not, at the limits between the two.
fn codes(kind: ScaleKind) -> (usize, Vec<u64>) {
    match kind {
        ScaleKind::E8M0 | ScaleKind::Ue4M3 => (1, (0..=0xFF).collect()),
        ScaleKind::F16 => (2, vec![0, 1, 0x7BFF, 0x7C00, 0x7C01, 0x7FFF, 0x8000, 0xFBFF, 0xFC00, 0xFE00, 0xFFFF]),
        ScaleKind::F32 => {
            (4, vec![0, 0x7F7F_FFFF, 0x7F80_0000, 0x7F80_0001, 0xFF7F_FFFF, 0xFF80_0000, u64::from(u32::MAX)])
        }
        // The top nibbles of four words make a binary16, the first word holds its lowest bits.
        ScaleKind::SplitF16 => {
            let spread = |half: u64| (0..4).fold(0, |words, i| words | (half >> (4 * i) & 0xF) << (16 * i + 12));
            (8, codes(ScaleKind::F16).1.into_iter().map(|half| spread(half) | 0x0FFF_0ABC_0123_0FFF).collect())
        }
    }
}

/// Blocks of a type: random, with each code at each scale, the others finite; and blocks of random
/// bytes alone.
fn blocks(ty: &TensorType, random: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
    let size = usize::try_from(ty.bytes).expect("a small block");
    let mut fields: Vec<(usize, usize, Vec<u64>)> = Vec::new();
    for field in ty.scales() {
        let (width, codes) = codes(field.kind);
        fields.extend((0..field.count).map(|i| (field.offset + i * width, width, codes.clone())));
    }
    match ty.name {
        "F16" | "BF16" => fields.push((0, 2, (0..=0xFFFF).collect())),
        "F32" => fields.push((0, 4, codes(ScaleKind::F32).1)),
        "F64" => fields.push((
            0,
            8,
            vec![0, 0x7FEF << 48 | 0xFFFF, 0x7FF0 << 48, 0x7FF0 << 48 | 1, 0xFFEF << 48, 0xFFF0 << 48, u64::MAX],
        )),
        _ => {}
    }
    let mut list = Vec::new();
    let bytes = |random: &mut ChaCha8Rng| {
        let mut block = vec![0; size];
        random.fill(&mut block[..]);
        block
    };
    for (at, width, codes) in &fields {
        for code in codes {
            let mut block = bytes(random);
            for (at, width, _) in &fields {
                block[*at..at + width].fill(0x11);
            }
            block[*at..at + width].copy_from_slice(&code.to_le_bytes()[..*width]);
            list.push(block);
        }
    }
    list.extend((0..500).map(|_| bytes(random)));
    list
}

fn compare(ggml: &Path) -> Result<(), Failed> {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let all: Vec<_> = TensorType::live().map(|ty| (ty, blocks(ty, &mut random))).collect();
    let mut file = tempfile::NamedTempFile::new()?;
    for (ty, blocks) in &all {
        file.write_all(&ty.id.to_le_bytes())?;
        file.write_all(&u32::try_from(blocks.len())?.to_le_bytes())?;
        file.write_all(&blocks.concat())?;
    }
    file.flush()?;
    // ggml says on standard error what it refuses: tens of thousands of lines.
    let child =
        Command::new(std::env::current_exe()?).arg(CHILD).args([ggml, file.path()]).stderr(Stdio::null()).output()?;
    if !child.status.success() {
        return Err(format!("the child that runs ggml ended with {}", child.status).into());
    }

    let mut answers = child.stdout.into_iter();
    let mut differences = BTreeSet::new();
    let (mut taken, mut refused) = (0, 0);
    for (ty, blocks) in &all {
        let kernel = Kernel::of(ty, ByteOrder::Little);
        for block in blocks {
            let finite = kernel.as_ref().is_none_or(|kernel| kernel.look(block).total() == 0);
            let takes = answers.next().ok_or("the child answered too little")? == 1;
            if takes {
                taken += 1;
            } else {
                refused += 1;
            }
            if takes != finite {
                differences.insert((ty.name, finite));
            }
        }
    }
    if answers.next().is_some() {
        return Err("the child answered too much".into());
    }
    if taken < 10_000 || refused < 1_000 {
        return Err(format!("{taken} taken, {refused} refused: not much of a comparison").into());
    }
    let expected: BTreeSet<_> = DIFFERENCES.iter().map(|&(name, refuses, _)| (name, refuses)).collect();
    if differences != expected {
        return Err(format!("ggml and the scan differ in {differences:?}, expected {expected:?}").into());
    }
    Ok(())
}
