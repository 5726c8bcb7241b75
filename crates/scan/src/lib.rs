//! Reads the tensor data of a GGUF file once, in parallel, and says what is wrong with it.
//!
//! Header, tensor table and padding are the business of a reader; what is noticed here is in the
//! data: values and scales that are NaN or infinite, tensors that share bytes, bytes that belong to
//! none, and a file that gets shorter while it is read. The rules are those of
//! [`gguf_spec::rules::scan`].
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use assay_scan::{Arrangement, Subject, Tensor, scan};
//! use gguf_spec::syntax::ByteOrder;
//!
//! // A file of 16 bytes, of which the last eight are two values of type F32 (0): 1 and infinity.
//! let mut file = vec![0; 8];
//! file.extend([1.0f32, f32::INFINITY].into_iter().flat_map(f32::to_le_bytes));
//! let tensors = [Some(Tensor { type_id: 0, start: 8, size: 8 })];
//! let arrangement = Arrangement::of(&tensors, 8, 32);
//! let subject = Subject { tensors: &tensors, arrangement: &arrangement, byte_order: ByteOrder::Little, len: 16 };
//!
//! let seen = scan(file.as_slice(), subject, NonZeroUsize::MIN, |_bytes| {})?;
//! let finding = &seen.findings(subject)[0];
//! assert_eq!((finding.rule.id, finding.span.clone()), ("scan.value.finite", 12..16));
//! # Ok::<(), std::io::Error>(())
//! ```
#![forbid(unsafe_code)]

mod arrangement;
mod findings;
mod kernel;
mod parallel;
mod scan;
mod source;

pub use arrangement::{Arrangement, Overlap, Tensor};
pub use findings::shrunk;
pub use kernel::{Kernel, NonFinite, Place, Tally};
pub use parallel::{CHUNK, Chunk, Stopped, Stretch, read};
pub use scan::{Noticed, Scan, Subject, scan, work};
pub use source::Source;
