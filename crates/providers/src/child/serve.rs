//! The child: takes requests, calls kernels on guarded memory, and answers.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use assay_guard::Buffer;
use gguf_spec::kernel::{
    Columns, KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation, alignment, check, extent, row_bytes,
};
use gguf_spec::types::TensorType;

use super::frame::{self, Frame};
use super::message::{Reply, Request};
use crate::c_abi::{LoadError, Provider};
use crate::ggml;

/// Bytes after a result in which a write is noticed and told; one further on ends the process.
const SLACK: usize = 256;

/// The places of [`fault::NAMES`](super::fault::NAMES).
const WEIGHTS: usize = 0;
const ACTIVATIONS: usize = 1;
const IDS: usize = 2;
const RESULT: usize = 3;

/// Serves a library until the requests end: what a program does that was started as a child. The arguments are the
/// library, the seconds that a call may take, and the number of the process that asks. A library with a name of ggml's is served as a build of it
/// ([`ggml::kernels::file`]), any other as a provider.
#[must_use]
pub fn serve(arguments: &[OsString]) -> ExitCode {
    let limit = |seconds: &OsString| seconds.to_str()?.parse().ok().map(Duration::from_secs);
    let [library, seconds, parent] = arguments else { return usage() };
    let (Some(limit), Some(parent)) = (limit(seconds), parent.to_str().and_then(|number| number.parse().ok())) else {
        return usage();
    };
    exit(with_streams(Some(parent), |input, output| {
        backstop(Some(limit));
        match load(Path::new(library)) {
            Ok(mut set) => requests(set.as_mut(), limit, input, output),
            Err(error) => frame::write(output, &Reply::Unusable { error }, Vec::new()),
        }
    }))
}

fn load(library: &Path) -> Result<Box<dyn KernelSet>, LoadError> {
    match ggml::kernels::of_file(library) {
        Some((directory, build)) => {
            ggml::kernels::open(directory, build).map_err(|error| LoadError::Ggml { reason: error.to_string() })
        }
        None => Ok(Box::new(Provider::load(library)?)),
    }
}

/// Serves kernels of this program in the same way: a call of them takes at most so long, and may crash.
#[must_use]
pub fn serve_set(set: &mut dyn KernelSet, limit: Duration) -> ExitCode {
    exit(with_streams(None, |input, output| requests(set, limit, input, output)))
}

fn usage() -> ExitCode {
    eprintln!("expected LIBRARY SECONDS PARENT; this is started by the program itself");
    ExitCode::from(2)
}

fn exit(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the process that asks is gone or asks what is no request: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(unix)]
fn with_streams(
    parent: Option<u32>,
    work: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    use super::{fault, streams};

    streams::end_with_parent(parent)?;
    streams::limit()?;
    let (mut input, mut output) = streams::take()?;
    fault::watch();
    work(&mut input, &mut output)
}

/// Here a library that writes to standard output breaks the conversation, which is told as such.
#[cfg(not(unix))]
fn with_streams(
    _parent: Option<u32>,
    work: impl FnOnce(&mut dyn Read, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    work(&mut io::stdin().lock(), &mut io::stdout().lock())
}

/// Far behind the limit that the parent keeps.
fn backstop(limit: Option<Duration>) {
    #[cfg(unix)]
    super::streams::end_after(limit.map(|limit| limit.saturating_mul(2).saturating_add(Duration::from_secs(5))));
    #[cfg(not(unix))]
    let _ = limit;
}

fn note(which: usize, bytes: &[u8]) {
    #[cfg(unix)]
    super::fault::note(which, bytes);
    #[cfg(not(unix))]
    let _ = (which, bytes);
}

fn forget() {
    #[cfg(unix)]
    super::fault::forget();
}

fn requests(set: &mut dyn KernelSet, limit: Duration, input: &mut dyn Read, output: &mut dyn Write) -> io::Result<()> {
    backstop(None);
    frame::write(output, &Reply::Ready { name: set.name().to_owned() }, Vec::new())?;
    while let Some(request) = Frame::<Request>::read(input)? {
        backstop(Some(limit));
        let (reply, result) = match answer(set, &request) {
            Ok((reply, result)) => (reply, result),
            Err(error) => (error.into(), None),
        };
        backstop(None);
        forget();
        frame::write(output, &reply, result.into_iter().collect())?;
    }
    Ok(())
}

type Answer = Result<(Reply, Option<Vec<u8>>), KernelError>;

fn answer(set: &mut dyn KernelSet, request: &Frame<Request>) -> Answer {
    let call = Call { set, parts: &request.parts };
    match request.message {
        Request::Contract { operation, ty, columns } => {
            let operation = Operation::from_id(operation).ok_or(KernelError::Unsupported)?;
            let terms = call.set.contract(operation, type_of(ty)?, columns)?.into();
            Ok((Reply::Contract { terms }, None))
        }
        Request::Dequantize { ty } => call.dequantize(type_of(ty)?),
        Request::QuantizeRow { ty } => call.quantize_row(type_of(ty)?),
        Request::Dot { ty } => call.dot(type_of(ty)?),
        Request::Matmul { .. } => call.matmul(&request.message),
        Request::MatmulId { .. } => call.matmul_id(&request.message),
        Request::GetRows { ty, rows, k, row_stride } => call.get_rows(type_of(ty)?, rows, k, row_stride),
    }
}

fn type_of(id: u32) -> Result<&'static TensorType, KernelError> {
    TensorType::from_id(id).ok_or(KernelError::Unsupported)
}

fn memory(error: &io::Error) -> KernelError {
    KernelError::Failed(format!("no memory for an operand or the result: {error}"))
}

/// One call, with the operands as they came.
struct Call<'a> {
    set: &'a mut dyn KernelSet,
    parts: &'a [Vec<u8>],
}

impl Call<'_> {
    /// An operand in guarded memory. The slack is what the contract allows, rounded up so that the start is aligned.
    fn operand(&self, part: usize, which: usize, align: usize, reads_past: usize) -> Result<Buffer, KernelError> {
        let bytes = self.parts.get(part).ok_or_else(|| {
            KernelError::Arguments(format!("operands: expected more than {part}, got {}", self.parts.len()))
        })?;
        let buffer = Buffer::holding(bytes, reads_past.next_multiple_of(align)).map_err(|error| memory(&error))?;
        note(which, buffer.bytes());
        Ok(buffer)
    }

    /// Memory for a result of so many elements, which begins as the part does, the caller's output: what is not
    /// written goes back as it came. Between columns, which are as [`done`] takes them, the pattern stays.
    fn result(
        &self,
        part: usize,
        elements: Option<usize>,
        size: usize,
        columns: Option<(usize, usize)>,
    ) -> Result<Buffer, KernelError> {
        let bytes = elements.and_then(|elements| elements.checked_mul(size));
        let bytes = bytes.ok_or_else(|| KernelError::Arguments("result: more than memory holds".to_owned()))?;
        let before = self.parts.get(part).filter(|before| before.len() == bytes).ok_or_else(|| {
            KernelError::Arguments(format!(
                "part {part}: expected the {bytes} bytes that the result has before the call"
            ))
        })?;
        let mut buffer = Buffer::new(bytes, SLACK).map_err(|error| memory(&error))?;
        let (length, stride) = columns.map_or((bytes, bytes), |(rows, stride)| (rows * size, stride * size));
        for start in (0..bytes).step_by(stride.max(1)) {
            let column = start..bytes.min(start + length);
            buffer.bytes_mut()[column.clone()].copy_from_slice(&before[column]);
        }
        note(RESULT, buffer.bytes());
        Ok(buffer)
    }

    fn floats(&self, part: usize, which: usize, reads_past: usize) -> Result<Buffer, KernelError> {
        let buffer = self.operand(part, which, align_of::<f32>(), reads_past)?;
        if buffer.bytes().len().is_multiple_of(size_of::<f32>()) {
            Ok(buffer)
        } else {
            Err(KernelError::Arguments(format!("operand {part}: {} bytes are no 32-bit numbers", buffer.bytes().len())))
        }
    }

    fn dequantize(self, ty: &'static TensorType) -> Answer {
        let contract = self.set.contract(Operation::Dequantize, ty, 1)?;
        let blocks = self.operand(0, WEIGHTS, alignment(ty), contract.reads_past)?;
        let elements = check::weights_in(ty, blocks.bytes().len()).map(Some)?;
        let mut y = self.result(1, elements, size_of::<f32>(), None)?;
        self.set.dequantize(ty, blocks.bytes(), y.f32s_mut())?;
        done(&y, None)
    }

    fn quantize_row(self, ty: &'static TensorType) -> Answer {
        let contract = self.set.contract(Operation::QuantizeRow, ty, 1)?;
        let values = self.floats(0, ACTIVATIONS, contract.reads_past)?;
        let mut blocks = self.result(1, row_bytes(ty, values.f32s().len()).map(Some)?, 1, None)?;
        self.set.quantize_row(ty, values.f32s(), blocks.bytes_mut())?;
        done(&blocks, None)
    }

    fn dot(self, ty: &'static TensorType) -> Answer {
        let contract = self.set.contract(Operation::Dot, ty, 1)?;
        let weights = self.operand(0, WEIGHTS, alignment(ty), contract.reads_past)?;
        let activations = self.floats(1, ACTIVATIONS, contract.reads_past)?;
        let y = self.set.dot(ty, weights.bytes(), activations.f32s())?;
        Ok((Reply::Done, Some(y.to_ne_bytes().to_vec())))
    }

    fn matmul(self, request: &Request) -> Answer {
        let &Request::Matmul { ty, rows, k, row_stride, columns, x_stride, y_stride, threads } = request else {
            return Err(KernelError::Unsupported);
        };
        let ty = type_of(ty)?;
        let contract = self.set.contract(Operation::Matmul, ty, columns)?;
        let weights = self.operand(0, WEIGHTS, alignment(ty), contract.reads_past)?;
        let x = self.floats(1, ACTIVATIONS, contract.reads_past)?;
        let product = Matmul {
            weights: Matrix::new(ty, rows, k, row_stride, weights.bytes())?,
            columns: Columns::new(columns, k, x_stride, x.f32s())?,
            y_stride,
            threads,
        };
        let mut y = self.result(2, extent(columns, rows, y_stride), size_of::<f32>(), Some((rows, y_stride)))?;
        self.set.matmul(&product, y.f32s_mut())?;
        done(&y, Some((rows, y_stride)))
    }

    fn matmul_id(self, request: &Request) -> Answer {
        let &Request::MatmulId { ty, rows, k, row_stride, experts, expert_stride, used, .. } = request else {
            return Err(KernelError::Unsupported);
        };
        let &Request::MatmulId { columns, x_stride, y_stride, threads, .. } = request else {
            return Err(KernelError::Unsupported);
        };
        let ty = type_of(ty)?;
        let contract = self.set.contract(Operation::MatmulId, ty, columns)?;
        let weights = self.operand(0, WEIGHTS, alignment(ty), contract.reads_past)?;
        let ids = self.floats(1, IDS, contract.reads_past)?;
        let x = self.floats(2, ACTIVATIONS, contract.reads_past)?;
        let product = MatmulId {
            weights: Matrix::new(ty, rows, k, row_stride, weights.bytes())?,
            experts,
            expert_stride,
            ids: ids.u32s(),
            used,
            columns: Columns::new(columns, k, x_stride, x.f32s())?,
            y_stride,
            threads,
        };
        let elements = extent(product.ids.len(), rows, y_stride);
        let mut y = self.result(3, elements, size_of::<f32>(), Some((rows, y_stride)))?;
        self.set.matmul_id(&product, y.f32s_mut())?;
        done(&y, Some((rows, y_stride)))
    }

    fn get_rows(self, ty: &'static TensorType, rows: usize, k: usize, row_stride: usize) -> Answer {
        let contract = self.set.contract(Operation::GetRows, ty, 1)?;
        let weights = self.operand(0, WEIGHTS, alignment(ty), contract.reads_past)?;
        let ids = self.floats(1, IDS, contract.reads_past)?;
        let matrix = Matrix::new(ty, rows, k, row_stride, weights.bytes())?;
        let mut y = self.result(2, ids.u32s().len().checked_mul(k), size_of::<f32>(), None)?;
        self.set.get_rows(&matrix, ids.u32s(), y.f32s_mut())?;
        done(&y, None)
    }
}

/// The result, if nothing was written but the result. `columns` are the elements of each, and those from the start
/// of one to the start of the next.
fn done(y: &Buffer, columns: Option<(usize, usize)>) -> Answer {
    y.intact().map_err(|damage| KernelError::Failed(format!("wrote out of bounds: {}", damage.of("result"))))?;
    if let Some((rows, stride)) = columns {
        let elements = y.bytes().len() / size_of::<f32>();
        for (column, start) in (0..elements).step_by(stride.max(1)).enumerate() {
            let gap = (start + rows).min(elements)..(start + stride).min(elements);
            if let Some(at) = y.first_written(gap.start * size_of::<f32>()..gap.end * size_of::<f32>()) {
                let at = at - start * size_of::<f32>();
                return Err(KernelError::Failed(format!(
                    "wrote between the columns of the result: byte {at} from the start of column {column}, which has {} \
                     bytes",
                    rows * size_of::<f32>()
                )));
            }
        }
    }
    Ok((Reply::Done, Some(y.bytes().to_vec())))
}
