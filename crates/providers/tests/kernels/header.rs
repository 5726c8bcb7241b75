//! The numbers of the header are those of the tables of the specification.

use std::collections::BTreeMap;

use gguf_spec::kernel::OPERATIONS;
use gguf_spec::kernel::contract::FORMS;
use gguf_spec::types::TensorType;
use libtest_mimic::Failed;

use crate::compiler::package;

/// What is defined as a number, by its name without a prefix, in capitals.
fn defined(header: &str, prefix: &str) -> BTreeMap<String, u32> {
    let define = |line: &str| {
        let mut words = line.strip_prefix("#define ")?.split_whitespace();
        let name = words.next()?.strip_prefix(prefix)?.to_owned();
        Some((name, words.next()?.trim_end_matches('u').parse().ok()?))
    };
    header.lines().filter_map(define).collect()
}

fn capitals(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

pub(crate) fn numbers() -> Result<(), Failed> {
    let header = std::fs::read_to_string(package("include/assay_kernels.h"))?;
    let operations = OPERATIONS.iter().map(|row| (capitals(row.name), row.id)).collect();
    let forms = FORMS.iter().map(|row| (capitals(row.name), row.id)).collect();
    let types = TensorType::live().map(|ty| (ty.name.to_owned(), ty.id)).collect();
    let abi = [("ABI".to_owned(), assay_providers::c_abi::ABI)].into();
    let tables: [(&str, BTreeMap<String, u32>); 4] =
        [("ASSAY_OP_", operations), ("ASSAY_FORM_", forms), ("ASSAY_TYPE_", types), ("ASSAY_KERNELS_", abi)];
    for (prefix, table) in tables {
        let defined = defined(&header, prefix);
        if defined != table {
            return Err(format!("{prefix}: the header has {defined:?}, the table {table:?}").into());
        }
    }
    let most = format!("most {} */", assay_providers::c_abi::MOST_READS_PAST);
    if !header.contains(&most) {
        return Err(format!("the header does not say: {most}").into());
    }
    Ok(())
}
