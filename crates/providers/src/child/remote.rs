//! The kernels of a child, as the parent sees them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gguf_spec::kernel::contract::Contract;
use gguf_spec::kernel::{KernelError, KernelSet, Matmul, MatmulId, Matrix, Operation, check, extent, row_bytes};
use gguf_spec::types::TensorType;

use super::Host;
use super::frame::Frame;
use super::message::{Reply, Request, to_bytes, to_floats};
use super::process::{Lost, Process};
use crate::c_abi::LoadError;

/// Why there are no kernels.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The child has not been started.
    #[error("{}: cannot be started: {error}", program.display())]
    Host {
        /// This program.
        program: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// The library cannot be used.
    #[error(transparent)]
    Unusable(#[from] LoadError),
    /// The process ended while the library was loaded, or asked for its name and its contracts.
    #[error("{}: while it was loaded: {reason}", path.display())]
    Crashed {
        /// The library.
        path: PathBuf,
        /// How it ended.
        reason: String,
    },
    /// Loading the library, or asking it for its name and its contracts, took too long.
    #[error("{}: while it was loaded: no answer within {} s", path.display(), limit.as_secs_f64())]
    Hangs {
        /// The library.
        path: PathBuf,
        /// How long was waited.
        limit: Duration,
    },
}

/// The kernels of a library, in a process of its own that is started again when it is gone.
pub struct RemoteKernels {
    host: Host,
    library: PathBuf,
    limit: Duration,
    name: String,
    process: Mutex<Option<Process>>,
    contracts: Mutex<HashMap<(Operation, u32, usize), Option<Contract>>>,
}

impl RemoteKernels {
    /// Starts a child and loads a library in it. A call may take so long; seconds are told to the child, which ends
    /// itself a while later if nobody else has.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub fn start(host: Host, library: &Path, limit: Duration) -> Result<Self, StartError> {
        // Without a directory, the system would look for the library elsewhere.
        let library = library.canonicalize().map_err(|_| LoadError::Missing { path: library.to_owned() })?;
        let (process, name) = start(&host, &library, limit)?;
        Ok(Self { host, library, limit, name, process: Mutex::new(Some(process)), contracts: Mutex::default() })
    }

    /// Asks the child for a contract; `None` if it has no kernel.
    fn ask_contract(&self, request: &Request) -> Result<Option<Contract>, String> {
        match self.ask(request, Vec::new()) {
            Ok(Frame { message: Reply::Contract { terms }, .. }) => {
                terms.contract().map(Some).ok_or_else(|| "the process names a form that there is not".to_owned())
            }
            Ok(_) => Err("the process answers out of turn".to_owned()),
            Err(KernelError::Unsupported) => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asks the child; starts it again first if it is gone.
    fn ask(&self, request: &Request, parts: Vec<Vec<u8>>) -> Result<Frame<Reply>, KernelError> {
        let failed = |what: String| KernelError::Failed(what);
        let mut held = lock(&self.process);
        let mut process = match held.take() {
            Some(process) => process,
            None => start(&self.host, &self.library, self.limit).map_err(|error| failed(error.to_string()))?.0,
        };
        let answer = process.ask(request, parts, self.limit).map_err(|lost: Lost| failed(lost.to_string()))?;
        match answer.message {
            Reply::Unsupported => {
                *held = Some(process);
                Err(KernelError::Unsupported)
            }
            Reply::Arguments { what } => {
                *held = Some(process);
                Err(KernelError::Arguments(what))
            }
            // Its memory may be spoiled: the next call gets a new process.
            Reply::Failed { what } => Err(failed(what)),
            Reply::Done | Reply::Contract { .. } => {
                *held = Some(process);
                Ok(answer)
            }
            Reply::Ready { .. } | Reply::Unusable { .. } => Err(failed("the process answers out of turn".to_owned())),
        }
    }

    /// Asks for a result of so many bytes.
    fn result(&self, request: &Request, parts: Vec<Vec<u8>>, expected: usize) -> Result<Vec<u8>, KernelError> {
        let mut parts = self.ask(request, parts)?.parts;
        match parts.pop().filter(|part| part.len() == expected) {
            Some(part) => Ok(part),
            None => Err(KernelError::Failed(format!("the process answers without the {expected} bytes of the result"))),
        }
    }

    /// A result over what `out` holds, which is sent along: what the library does not write stays.
    fn floats(&self, request: &Request, mut parts: Vec<Vec<u8>>, out: &mut [f32]) -> Result<(), KernelError> {
        parts.push(to_bytes(out));
        let result = self.result(request, parts, size_of_val(out))?;
        out.iter_mut().zip(to_floats(&result)).for_each(|(out, value)| *out = value);
        Ok(())
    }

    /// Columns of a result; what is between them in `y` stays.
    fn columns(
        &self,
        request: &Request,
        parts: Vec<Vec<u8>>,
        (count, rows, stride): (usize, usize, usize),
        y: &mut [f32],
    ) -> Result<(), KernelError> {
        let mut all = y[..extent(count, rows, stride).unwrap_or(usize::MAX)].to_vec();
        self.floats(request, parts, &mut all)?;
        for column in 0..count {
            y[column * stride..][..rows].copy_from_slice(&all[column * stride..][..rows]);
        }
        Ok(())
    }
}

/// A judge may keep them in whatever thread it likes.
const _: fn() = || {
    fn any_thread<T: Send + Sync>() {}
    any_thread::<RemoteKernels>();
};

/// A new child that has loaded the library, and the name it gives.
fn start(host: &Host, library: &Path, limit: Duration) -> Result<(Process, String), StartError> {
    let mut process = Process::start(host, library, limit)
        .map_err(|error| StartError::Host { program: host.program.clone(), error })?;
    let crashed = |reason: String| StartError::Crashed { path: library.to_owned(), reason };
    match process.answer(limit) {
        Ok(Frame { message: Reply::Ready { name }, .. }) => Ok((process, name)),
        Ok(Frame { message: Reply::Unusable { error }, .. }) => Err(error.into()),
        Ok(other) => Err(crashed(format!("the process answers out of turn: {:?}", other.message))),
        Err(Lost::Hangs(limit)) => Err(StartError::Hangs { path: library.to_owned(), limit }),
        Err(lost) => Err(crashed(lost.to_string())),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of a matrix up to the end of its last row, so that this is where memory ends.
fn rows_of(weights: &Matrix<'_>) -> Vec<u8> {
    let end = extent(weights.rows, weights.row_bytes(), weights.row_stride).unwrap_or(usize::MAX);
    weights.bytes[..end.min(weights.bytes.len())].to_vec()
}

fn ids_of(ids: &[u32]) -> Vec<u8> {
    ids.iter().flat_map(|id| id.to_ne_bytes()).collect()
}

impl KernelSet for RemoteKernels {
    fn name(&self) -> &str {
        &self.name
    }

    fn contract(&self, operation: Operation, ty: &'static TensorType, columns: usize) -> Result<Contract, KernelError> {
        let key = (operation, ty.id, columns);
        let known = lock(&self.contracts).get(&key).copied();
        let contract = match known {
            Some(known) => known,
            None => {
                let request = Request::Contract { operation: operation.id(), ty: ty.id, columns };
                let failed = |reason| {
                    let columns = if columns == 1 { "1 column".to_owned() } else { format!("{columns} columns") };
                    let asked = format!("the contract for {operation}, {}, {columns}", ty.name);
                    KernelError::Failed(format!("asked for {asked}: {reason}"))
                };
                let contract = self.ask_contract(&request).map_err(failed)?;
                lock(&self.contracts).insert(key, contract);
                contract
            }
        };
        contract.ok_or(KernelError::Unsupported)
    }

    fn dequantize(&mut self, ty: &'static TensorType, blocks: &[u8], out: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::Dequantize, ty, 1)?;
        check::dequantize(ty, blocks.len(), out.len())?;
        self.floats(&Request::Dequantize { ty: ty.id }, vec![blocks.to_vec()], out)
    }

    fn quantize_row(&mut self, ty: &'static TensorType, values: &[f32], out: &mut [u8]) -> Result<(), KernelError> {
        self.contract(Operation::QuantizeRow, ty, 1)?;
        check::quantize_row(ty, values.len(), out.len())?;
        let parts = vec![to_bytes(values), out.to_vec()];
        let result = self.result(&Request::QuantizeRow { ty: ty.id }, parts, out.len())?;
        out.copy_from_slice(&result);
        Ok(())
    }

    fn dot(&mut self, ty: &'static TensorType, weights: &[u8], activations: &[f32]) -> Result<f32, KernelError> {
        self.contract(Operation::Dot, ty, 1)?;
        check::dot(ty, weights.len(), activations.len())?;
        let parts = vec![weights.to_vec(), to_bytes(activations)];
        let result = self.result(&Request::Dot { ty: ty.id }, parts, size_of::<f32>())?;
        to_floats(&result).next().ok_or_else(|| KernelError::Failed("the process answers without a result".to_owned()))
    }

    fn matmul(&mut self, product: &Matmul<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::Matmul, product.weights.ty, product.columns.count)?;
        check::matmul(product, y.len())?;
        let &Matmul { weights, columns, y_stride, threads } = product;
        let request = Request::Matmul {
            ty: weights.ty.id,
            rows: weights.rows,
            k: weights.k,
            row_stride: weights.row_stride,
            columns: columns.count,
            x_stride: columns.stride,
            y_stride,
            threads,
        };
        let end = extent(columns.count, columns.k, columns.stride).unwrap_or(usize::MAX);
        let parts = vec![rows_of(&weights), to_bytes(&columns.values[..end])];
        self.columns(&request, parts, (columns.count, weights.rows, y_stride), y)
    }

    fn matmul_id(&mut self, product: &MatmulId<'_>, y: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::MatmulId, product.weights.ty, product.columns.count)?;
        check::matmul_id(product, y.len())?;
        let &MatmulId { weights, experts, expert_stride, ids, used, columns, y_stride, threads } = product;
        let request = Request::MatmulId {
            ty: weights.ty.id,
            rows: weights.rows,
            k: weights.k,
            row_stride: weights.row_stride,
            experts,
            expert_stride,
            used,
            columns: columns.count,
            x_stride: columns.stride,
            y_stride,
            threads,
        };
        let expert = extent(weights.rows, row_bytes(weights.ty, weights.k)?, weights.row_stride);
        let end = expert.and_then(|expert| extent(experts, expert, expert_stride)).unwrap_or(usize::MAX);
        let values = extent(columns.count, columns.k, columns.stride).unwrap_or(usize::MAX);
        let parts = vec![weights.bytes[..end].to_vec(), ids_of(ids), to_bytes(&columns.values[..values])];
        self.columns(&request, parts, (ids.len(), weights.rows, y_stride), y)
    }

    fn get_rows(&mut self, weights: &Matrix<'_>, ids: &[u32], y: &mut [f32]) -> Result<(), KernelError> {
        self.contract(Operation::GetRows, weights.ty, 1)?;
        check::get_rows(weights, ids, y.len())?;
        let request =
            Request::GetRows { ty: weights.ty.id, rows: weights.rows, k: weights.k, row_stride: weights.row_stride };
        self.floats(&request, vec![rows_of(weights), ids_of(ids)], y)
    }
}
