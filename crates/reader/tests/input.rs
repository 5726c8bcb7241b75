//! Heads, inputs that fail, and reading that ends early.

use std::borrow::Cow;
use std::ops::Range;

use assay_reader::{Policy, Stop, example, grown, read, read_head};
use gguf_spec::input::Input;
use gguf_spec::rules::{Stage, data, layout};

/// A file of which only the first bytes can be read.
struct Cut {
    bytes: Vec<u8>,
    readable: u64,
}

impl Input for Cut {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn bytes(&self, range: Range<u64>) -> Option<Cow<'_, [u8]>> {
        if range.end > self.readable {
            return None;
        }
        self.bytes.as_slice().bytes(range).map(|bytes| Cow::Owned(bytes.into_owned()))
    }
}

/// Where the table of the example ends, and where its data starts.
fn places(bytes: &[u8]) -> (usize, usize) {
    let file = read(bytes, Policy::strict()).unwrap_or_else(|refused| panic!("{refused}"));
    let place = |at: Option<u64>| at.and_then(|at| usize::try_from(at).ok()).unwrap_or(0);
    let places = (place(file.table_end()), place(file.data_offset()));
    assert!(places.0 < places.1, "the example has padding to read");
    places
}

#[test]
fn an_input_that_fails_is_no_finding() {
    let bytes = example();
    let (table_end, _) = places(&bytes);
    let input = Cut { readable: table_end as u64, bytes: bytes.clone() };
    let stop = read_head(&bytes[..table_end], &input, Policy::strict()).err();
    assert!(matches!(stop, Some(Stop::Unreadable(range)) if range.start == table_end as u64));
    // Who does not look at padding does not read it.
    assert!(read_head(&bytes[..table_end], &input, Policy::strict().until(Stage::TensorTable)).is_ok());
}

#[test]
fn the_head_need_not_reach_behind_the_table() {
    let bytes = example();
    let (table_end, _) = places(&bytes);
    let input = bytes.as_slice();
    assert!(read_head(&bytes[..table_end], &input, Policy::strict()).is_ok());
    let stop = read_head(&bytes[..table_end - 1], &input, Policy::strict()).err();
    assert_eq!(stop, Some(Stop::NeedMore { at_least: table_end as u64 }));
}

#[test]
fn a_head_grows_fast_enough_and_far_enough() {
    assert_eq!(grown(100, 101), 200);
    assert_eq!(grown(100, 1000), 1000);
    assert_eq!(grown(u64::MAX, u64::MAX), u64::MAX);
}

#[test]
fn what_is_behind_the_last_stage_is_neither_judged_nor_read() {
    let bytes = example();
    let (table_end, start) = places(&bytes);
    let without_data = &bytes[..start];
    let refused = read(without_data, Policy::strict()).err().map(|refused| refused.rule().id);
    assert_eq!(refused, Some(data::EXTENT.id));
    assert!(read(without_data, Policy::strict().until(Stage::Layout)).is_ok());

    let without_padding = &bytes[..table_end];
    let refused = read(without_padding, Policy::strict().until(Stage::Layout)).err().map(|refused| refused.rule().id);
    assert_eq!(refused, Some(layout::DATA_START.id));
    let table = read(without_padding, Policy::strict().until(Stage::TensorTable)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((table.tensors().len(), table.data_offset(), table.table_end()), (1, None, None));
    assert_eq!(table.tensors().next().and_then(|tensor| tensor.range()), None);

    let metadata_end = usize::try_from(table.metadata_end()).unwrap_or(0);
    let metadata = read(&bytes[..metadata_end], Policy::strict().until(Stage::Metadata));
    let metadata = metadata.unwrap_or_else(|refused| panic!("{refused}"));
    assert_eq!((metadata.metadata().len(), metadata.tensors().len()), (3, 0));
    let header = read(&bytes[..24], Policy::strict().until(Stage::Header)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!((header.version(), header.kv_count(), header.tensor_count(), header.metadata().len()), (3, 3, 1, 0));
    assert!(read(b"GGUF", Policy::strict().until(Stage::Magic)).is_ok());
}

#[test]
fn values_and_tensors_are_found_by_name() {
    let bytes = example();
    let file = read(&bytes, Policy::strict()).unwrap_or_else(|refused| panic!("{refused}"));
    let tokens = file.get("tokenizer.ggml.tokens").and_then(|value| value.strings());
    let tokens: Vec<_> = tokens.into_iter().flatten().map(String::from_utf8_lossy).collect();
    assert_eq!(tokens, ["▁a", "▁b"]);
    let scores = file.get("tokenizer.ggml.scores").and_then(|value| value.as_array());
    assert_eq!(scores.and_then(|scores| scores.to_vec::<f32>()), Some(vec![0.25, 0.5]));
    assert_eq!(scores.and_then(|scores| scores.to_vec::<f64>()), None);
    assert!(file.get("tokenizer.ggml.model").is_none());
    let tensor = file.tensor_named("token_embd.weight").unwrap_or_else(|| panic!("there is one"));
    assert_eq!((tensor.dims(), tensor.size(), tensor.ty().map(|ty| ty.name)), (&[4, 2][..], 32, Some("F32")));
    let end = bytes.len() as u64;
    assert_eq!(tensor.range(), Some(end - 32..end));
}
