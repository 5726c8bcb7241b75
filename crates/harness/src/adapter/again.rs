//! Processes of an adapter that are started again, asked once, or given up: what a run and a campaign have in
//! common.

use super::judge::Behaviour;
use super::message::Request;
use super::session::{Session, StartError};

/// How many answers that all break the protocol are enough to give an adapter up.
pub(crate) const MOST_PROTOCOL_ERRORS: usize = 20;

/// How often in a row an adapter may fail to start before it is given up.
const TRIES: usize = 3;

/// A process, after some tries.
pub(crate) fn start<T>(mut start: impl FnMut() -> Result<T, StartError>) -> Result<T, StartError> {
    let mut tries = 1;
    loop {
        match start() {
            Err(_) if tries < TRIES => tries += 1,
            result => return result,
        }
    }
}

/// Puts one request to a process, and ends it.
pub(crate) fn ask_once(mut session: Session, request: &Request<'_>) -> Behaviour {
    let behaviour = match session.ask(request) {
        Ok((behaviour, _)) => behaviour,
        Err(failure) => return failure.behaviour(),
    };
    // An answer counts only if nothing follows it.
    match session.stop() {
        Err(failure) if failure.before => failure.behaviour(),
        _ => behaviour,
    }
}

/// Why an adapter is given up whose first answers all break the protocol.
pub(crate) fn breaks_the_protocol() -> String {
    format!(
        "breaks the protocol in each of its first {MOST_PROTOCOL_ERRORS} answers, and is not asked further: \
         standard output is for answers alone (docs/adapter-protocol.md)"
    )
}
