//! The definitions of all vectors.
//!
//! A definition says what its file is for and which rules it breaks; the builder holds the
//! specification to that, so that a vector and the specification cannot be wrong together unless the
//! author was wrong twice. Only sweeps leave the broken rules to the specification. `corpus verify`
//! then holds both to ggml.

mod counts;
mod faults;
pub mod found;
mod layout;
mod metadata;
mod rules;
mod shapes;
mod truncation;
mod tutorials;
mod types;

use std::path::Path;

use gguf_spec::binary::{encode, spans};
use gguf_spec::field::Field;
use gguf_spec::generate::Builder;
use gguf_spec::rules::Rule;
use gguf_spec::syntax::Tree;

use crate::build::BuildError;
use crate::vector::Origin;

/// The definition of one vector.
#[derive(Clone, Debug)]
pub struct Definition {
    /// The directory it is filed in.
    pub group: &'static str,
    /// The permanent id.
    pub id: String,
    /// The one thing it is for, as a sentence.
    pub purpose: String,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The rules it breaks, all of them; `None` in sweeps, where the specification tells.
    pub breaks: Option<Vec<&'static Rule>>,
    /// The rules it just keeps.
    pub keeps: Vec<&'static Rule>,
    /// Its flags.
    pub flags: Vec<&'static str>,
    /// Where it comes from.
    pub origin: Origin,
}

/// Collects definitions of one group.
struct Group {
    name: &'static str,
    kind: &'static str,
    list: Vec<Definition>,
}

impl Group {
    fn new(name: &'static str, kind: &'static str) -> Self {
        Self { name, kind, list: Vec::new() }
    }

    fn push(&mut self, id: impl Into<String>, purpose: impl Into<String>, bytes: Vec<u8>) -> &mut Definition {
        self.list.push(Definition {
            group: self.name,
            id: id.into(),
            purpose: purpose.into(),
            bytes,
            breaks: Some(Vec::new()),
            keeps: Vec::new(),
            flags: Vec::new(),
            origin: Origin { kind: self.kind.to_owned(), reference: None },
        });
        let last = self.list.len() - 1;
        &mut self.list[last]
    }
}

impl Definition {
    fn breaks(&mut self, rules: &[&'static Rule]) -> &mut Self {
        self.breaks = Some(rules.to_vec());
        self
    }

    /// Leaves the broken rules to the specification.
    fn swept(&mut self) -> &mut Self {
        self.breaks = None;
        self
    }

    fn keeps(&mut self, rules: &[&'static Rule]) -> &mut Self {
        self.keeps.extend(rules);
        self
    }

    fn flags(&mut self, flags: &[&'static str]) -> &mut Self {
        self.flags.extend(flags);
        self
    }

    fn from(&mut self, kind: &str, reference: &str) -> &mut Self {
        self.origin = Origin { kind: kind.to_owned(), reference: Some(reference.to_owned()) };
        self
    }
}

/// Every definition, in the order of groups and ids: those of this program, and those below `corpus/found`.
///
/// # Errors
///
/// If one of the latter cannot be read.
pub fn all(corpus: &Path) -> Result<Vec<Definition>, BuildError> {
    let mut list: Vec<_> = [
        rules::define(),
        metadata::define(),
        shapes::define(),
        layout::define(),
        types::define(),
        counts::define(),
        truncation::define(),
        tutorials::define(),
        faults::define(),
        found::define(corpus)?,
    ]
    .into_iter()
    .flatten()
    .collect();
    list.sort_by(|a, b| (a.group, &a.id).cmp(&(b.group, &b.id)));
    Ok(list)
}

/// The bytes of a finished tree after a change to it.
fn edited(builder: &Builder, edit: impl FnOnce(&mut Tree<'static>)) -> Vec<u8> {
    let mut tree = builder.finish();
    edit(&mut tree);
    encode(&tree)
}

/// The bytes of a builder's file.
fn bytes(builder: &Builder) -> Vec<u8> {
    encode(&builder.finish())
}

/// Where a field starts in the file of a tree.
fn start_of(tree: &Tree<'_>, field: &Field) -> usize {
    spans(tree, 0)
        .into_iter()
        .find(|span| span.field == *field)
        .and_then(|span| usize::try_from(span.range.start).ok())
        .unwrap_or_else(|| panic!("no field {field}"))
}

/// The ids of the tensor types that many definitions use; a test holds them to the table of types.
mod type_ids {
    pub(super) const F32: u32 = 0;
    pub(super) const Q4_0: u32 = 2;
    pub(super) const I8: u32 = 24;
    pub(super) const F64: u32 = 28;

    #[cfg(test)]
    #[test]
    fn ids_are_those_of_the_table() {
        use gguf_spec::types::TensorType;
        for (name, id) in [("F32", F32), ("Q4_0", Q4_0), ("I8", I8), ("F64", F64)] {
            assert_eq!(TensorType::from_name(name).map(|ty| ty.id), Some(id));
        }
    }
}
