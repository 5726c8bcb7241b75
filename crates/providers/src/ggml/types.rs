//! ggml's own table of tensor types, beside the specification's.

use std::fmt;

use gguf_spec::types::{TENSOR_TYPES, TensorType};

use super::abi::Library;

/// One row of ggml's table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeRow {
    /// The number stored in files.
    pub id: u32,
    /// The name, as ggml writes it; removed types have names that say so.
    pub name: String,
    /// Weights per block; 0 for removed types.
    pub block: i64,
    /// Bytes per block; 0 for removed types.
    pub bytes: u64,
}

/// A row in which ggml and the specification differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDifference {
    /// The number of the type.
    pub id: u32,
    /// `name`, `block` or `bytes`.
    pub column: &'static str,
    /// What the specification says.
    pub expected: String,
    /// What ggml says.
    pub actual: String,
}

impl fmt::Display for TypeDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tensor type {}: {}: expected {}, ggml says {}", self.id, self.column, self.expected, self.actual)
    }
}

impl Library {
    /// ggml's rows for the types of the specification's table.
    ///
    /// Meaningful for a library that has all of them: ggml 0.25.0 and later.
    #[must_use]
    pub fn tensor_types(&self) -> Vec<TypeRow> {
        (0..43u16)
            .map(|id| {
                let (name, block, bytes) = self.tensor_type(id);
                let name = String::from_utf8_lossy(&name).into_owned();
                TypeRow { id: u32::from(id), name, block, bytes: bytes as u64 }
            })
            .collect()
    }

    /// Whether `ggml_validate_row_data` takes the data of a tensor, in whole blocks: ggml's tools ask
    /// it when they are told to check tensors. It says on standard error what it does not like.
    ///
    /// Meaningful for a library that has the type.
    #[must_use]
    pub fn validates(&self, ty: &TensorType, blocks: &[u8]) -> bool {
        u16::try_from(ty.id).is_ok_and(|id| self.validate(id, blocks))
    }
}

/// Where ggml's table and the specification's differ. Names are compared without regard to case;
/// those of removed types, for which ggml has a remark instead of a name, are not.
#[must_use]
pub fn type_differences(rows: &[TypeRow]) -> Vec<TypeDifference> {
    let mut differences = Vec::new();
    for expected in &TENSOR_TYPES {
        let id = expected.id;
        let mut differs = |column, expected: String, actual: String| {
            differences.push(TypeDifference { id, column, expected, actual });
        };
        let Some(actual) = rows.iter().find(|row| row.id == id) else {
            differs("name", expected.name.to_owned(), "nothing".to_owned());
            continue;
        };
        if expected.has_layout() && !expected.name.eq_ignore_ascii_case(&actual.name) {
            differs("name", expected.name.to_owned(), actual.name.clone());
        }
        if i64::try_from(expected.block) != Ok(actual.block) {
            differs("block", expected.block.to_string(), actual.block.to_string());
        }
        if expected.bytes != actual.bytes {
            differs("bytes", expected.bytes.to_string(), actual.bytes.to_string());
        }
    }
    differences
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreeing() -> Vec<TypeRow> {
        TENSOR_TYPES
            .iter()
            .map(|row| TypeRow {
                id: row.id,
                name: row.name.to_lowercase(),
                block: i64::try_from(row.block).unwrap(),
                bytes: row.bytes,
            })
            .collect()
    }

    #[test]
    fn equal_tables_do_not_differ() {
        assert_eq!(type_differences(&agreeing()), []);
    }

    #[test]
    fn every_column_is_compared() {
        let mut rows = agreeing();
        rows[2].name = "q4_1".to_owned();
        rows[3].block = 16;
        rows[6].bytes = 21;
        rows[4].name = "removed".to_owned();
        rows.remove(42);
        let found: Vec<_> = type_differences(&rows).iter().map(ToString::to_string).collect();
        assert_eq!(
            found,
            [
                "tensor type 2: name: expected Q4_0, ggml says q4_1",
                "tensor type 3: block: expected 32, ggml says 16",
                "tensor type 6: bytes: expected 22, ggml says 21",
                "tensor type 42: name: expected Q2_0, ggml says nothing",
            ]
        );
    }
}
