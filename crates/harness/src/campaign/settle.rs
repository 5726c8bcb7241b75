//! A failure that waits: confirmed in a fresh process, made small while it stays the same and every profile does
//! with the file what it did, confirmed again, written down.

use std::fs;
use std::path::Path;
use std::time::Instant;

use assay_corpus::build::entry_of;
use assay_corpus::store::Entry;
use gguf_spec::generate::minimized;
use gguf_spec::profile::{Outcome, Profile};

use super::finding::{AnswerLine, FILE, Finding, described, message, read_file};
use super::groups::{Group, Waiting};
use super::reader::{Asked, Stop};
use super::signature::Signature;
use super::{Campaign, CampaignError, Watch};
use crate::adapter::session::StartError;
use crate::adapter::verdict::Verdict;

/// Fewer questions are put where each takes all the time or memory there is for it.
const FEW: usize = 12;

impl Campaign {
    /// Settles the next failure that waits; `false` if none does.
    pub(super) fn settle_next(&mut self, watch: &Watch<'_>, stop: &Stop) -> Result<bool, CampaignError> {
        let settled = self.settle(watch, stop);
        self.settling = None;
        settled
    }

    fn settle(&mut self, watch: &Watch<'_>, stop: &Stop) -> Result<bool, CampaignError> {
        let readers = &self.readers;
        let asked = |name: &str| readers.iter().any(|reader| reader.name() == name && reader.aside().is_none());
        let Some((at, signature, waiting)) = self.state.groups.next(asked) else {
            return self.finish_next(watch, stop);
        };
        if let Some(group) = self.state.groups.shows(&signature) {
            self.state.groups.belongs(at, group);
            return Ok(true);
        }
        // One that fails in many ways does not keep others waiting.
        self.state.groups.turn(&signature.adapter);
        let Some(who) = self.readers.iter().position(|reader| reader.name() == signature.adapter) else {
            return Ok(false);
        };
        let Some(bytes) = self.room.read(&waiting.sha256) else {
            self.state.groups.unstable(at);
            self.remarks.push(format!("file {} is gone: its {} is not confirmed", waiting.number, signature.verdict));
            return Ok(true);
        };
        let before = self.put(bytes)?;
        let first = match self.readers[who].ask_afresh(&before) {
            Ok(asked) => asked,
            Err(StartError(why)) => {
                self.remarks.push(format!("file {}: {} cannot be confirmed: {why}", waiting.number, signature.verdict));
                self.state.groups.unstable(at);
                return Ok(true);
            }
        };
        // What it says may be another thing each time; what it does is what has to stay.
        let Some(confirmed) = first.signature.clone().filter(|seen| seen.verdict == signature.verdict) else {
            self.state.groups.unstable(at);
            return Ok(true);
        };
        let (entry, asked, unfinished) = self.smaller(who, &confirmed, before, first, (watch, stop))?;
        let Some(last) = asked.signature.clone() else {
            self.state.groups.unstable(at);
            return Ok(true);
        };
        if let Some(group) = self.state.groups.shows(&last) {
            self.state.groups.belongs(at, group);
            return Ok(true);
        }
        let directory = self.write(who, &last, &entry, (&asked, unfinished), &waiting, watch)?;
        let group = Group {
            message: message(&entry, &asked),
            signature: last,
            directory,
            first: waiting.number,
            size_before: waiting.size,
            size: entry.vector.size,
            unfinished,
        };
        self.state.groups.found(at, group);
        Ok(true)
    }

    /// Goes on to make small what an earlier run of the program had no time for; `false` if nothing is left.
    fn finish_next(&mut self, watch: &Watch<'_>, stop: &Stop) -> Result<bool, CampaignError> {
        let Some((at, group)) = self.again.pop().and_then(|at| Some((at, self.state.groups.group(at)?.clone()))) else {
            return Ok(false);
        };
        let Some(who) = self.readers.iter().position(|reader| reader.name() == group.signature.adapter) else {
            return Ok(true);
        };
        let Some(directory) = group.directory.as_ref().map(|name| self.room.root().join(name)) else { return Ok(true) };
        // Somebody may have taken it away, which is their right.
        let (Ok(finding), Ok(bytes)) = (Finding::load(&directory), read_file(&directory.join(FILE))) else {
            return Ok(true);
        };
        let before = self.put(bytes)?;
        let Ok(first) = self.readers[who].ask_afresh(&before) else { return Ok(true) };
        if first.signature.as_ref() != Some(&group.signature) {
            return Ok(true);
        }
        let (entry, asked, unfinished) = self.smaller(who, &group.signature, before, first, (watch, stop))?;
        if asked.signature.as_ref() != Some(&group.signature) {
            return Ok(true);
        }
        let waiting = Waiting {
            sha256: entry.vector.sha256.clone(),
            size: finding.size_before,
            number: finding.number,
            made: finding.made,
        };
        let message = message(&entry, &asked);
        if self.write(who, &group.signature, &entry, (&asked, unfinished), &waiting, watch)?.is_some() {
            self.state.groups.replace(at, Group { message, size: entry.vector.size, unfinished, ..group });
        }
        Ok(true)
    }

    /// Puts a file where readers can be asked about it.
    fn put(&self, bytes: Vec<u8>) -> Result<Entry, CampaignError> {
        put(self.desk.path(), bytes)
    }

    /// The least file that shows a failure, what a fresh process does with it, and whether the search was cut
    /// short.
    fn smaller(
        &mut self,
        who: usize,
        signature: &Signature,
        before: Entry,
        first: Asked,
        (watch, stop): (&Watch<'_>, &Stop),
    ) -> Result<(Entry, Asked, bool), CampaignError> {
        let slow = signature.verdict().is_some_and(Verdict::takes_all);
        let tries = if slow { self.bounds.tries.min(FEW) } else { self.bounds.tries };
        self.settling = Some(signature.clone());
        let progress = self.progress();
        let directory = self.desk.path();
        let reader = &mut self.readers[who];
        let (began, patience) = (Instant::now(), self.bounds.patience());
        let outcomes_before = outcomes(&before);
        let (mut questions, mut cut) = (0, false);
        let mut shows = |bytes: &[u8]| {
            questions += 1;
            (watch.told)(&progress);
            if stop() || patience.is_some_and(|patience| began.elapsed() >= patience) {
                cut = true;
                return false;
            }
            let Ok(entry) = put(directory, bytes.to_vec()) else { return false };
            if outcomes(&entry) != outcomes_before {
                return false;
            }
            let asked = reader.ask_one(&entry);
            asked.and_then(|asked| asked.signature).is_some_and(|seen| signature.is_shown_by(&seen))
        };
        let small = minimized(&before.bytes, tries, &mut shows);
        // Whoever asks for none wants files as they are.
        let unfinished = cut || (tries > 0 && questions >= tries);
        if small == before.bytes {
            // Another file is in its place.
            self.put(small)?;
            return Ok((before, first, unfinished));
        }
        let entry = self.put(small)?;
        match self.readers[who].ask_afresh(&entry) {
            Ok(asked) if asked.signature.as_ref().is_some_and(|seen| signature.is_shown_by(seen)) => {
                Ok((entry, asked, unfinished))
            }
            _ => {
                let before = self.put(before.bytes)?;
                Ok((before, first, true))
            }
        }
    }

    /// Writes the reproducer, if there is room, and says where.
    fn write(
        &mut self,
        who: usize,
        signature: &Signature,
        entry: &Entry,
        (asked, unfinished): (&Asked, bool),
        waiting: &Waiting,
        watch: &Watch<'_>,
    ) -> Result<Option<String>, CampaignError> {
        let mut answers = Vec::new();
        for (i, reader) in self.readers.iter_mut().enumerate() {
            let name = reader.name().to_owned();
            let answer = if i == who { Some(asked.clone()) } else { reader.ask_one(entry) };
            answers.extend(answer.map(|asked| AnswerLine::new(&name, &entry.path, &asked)));
        }
        let origin = (self.state.seed, waiting.number, waiting.made.clone(), waiting.size);
        let finding = described(signature.clone(), &self.readers, entry, answers, origin, unfinished);
        let hex = (watch.hex)(&entry.bytes);
        // What is known of it is a few times as long as the file at the most.
        let estimate = 4 * entry.vector.size + hex.len() as u64 + (16 << 10);
        if self.state.findings_bytes + estimate > self.bounds.disk / 8 * 3 {
            let why = "there is no room for its reproducer: give more with --max-disk";
            self.remarks.push(format!("{}: {why}", signature.name()));
            return Ok(None);
        }
        let name = signature.name();
        let path = self.room.root().join(&name);
        let written = finding.write(&path, &entry.bytes, &hex, &asked.complaint);
        self.state.findings_bytes += written.map_err(|source| CampaignError::File { path, source })?;
        Ok(Some(name))
    }
}

/// What each profile does with a file: a reader that fails on a file which everybody accepts is not blamed by one
/// that somebody refuses.
fn outcomes(entry: &Entry) -> [Outcome; Profile::ALL.len()] {
    Profile::ALL.map(|profile| entry.vector.outcome(profile))
}

/// Puts a file where readers can be asked about it: one after another in the same place.
fn put(directory: &Path, bytes: Vec<u8>) -> Result<Entry, CampaignError> {
    let path = directory.join("small.gguf");
    fs::write(&path, &bytes).map_err(|source| CampaignError::File { path: path.clone(), source })?;
    Ok(entry_of("generated", bytes, path))
}
