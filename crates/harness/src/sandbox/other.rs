//! Systems without the limits of Unix: the wall clock alone.

use std::io;
use std::process::{Child, Command};

pub(super) use assay_providers::group::{has_ended, kill};

use super::{Ending, Limits, Usage};

pub(super) fn prepare(_command: &mut Command, _limits: &Limits) {}

/// Waits for the child, which has ended or was killed, and tells how it ended.
pub(super) fn reap(child: &mut Child, _limits: &Limits) -> io::Result<Ending> {
    Ok(Ending::Exited(child.wait()?.code().unwrap_or(-1)))
}

/// Nothing is measured.
pub(super) fn usage(_child: &Child, _whole_group: bool) -> Usage {
    Usage::default()
}

/// Nobody tells.
pub(super) fn has_children(_child: &Child) -> bool {
    true
}

/// Nothing is measured, so there is no peak to forget.
pub(super) fn forget_peak(_child: &Child) {}
