//! The fast reader alone, as fast as it goes.

use assay_oracles::reader::{is_sound, policies};
use assay_reader::{Policy, read};

use crate::counting_allocator::measured;
use crate::{Found, Kind, Target, read_within};

/// The fast reader does not panic, stays within its memory, and what every rule lets pass passes every
/// profile.
pub const TARGET: Target = Target {
    name: "parse",
    says: "The fast reader does not panic, stays within its memory, and what passes every rule passes every profile.",
    kind: Kind::File,
    run,
};

fn run(bytes: &[u8]) -> Result<Found, String> {
    let mut found = Found::default();
    let mut refused_by = None;
    for (name, policy) in policies() {
        let (result, taken) = measured(|| read(bytes, policy));
        read_within(taken, bytes.len()).map_err(|reason| format!("{name}: {reason}"))?;
        let strict = policy == Policy::strict();
        match (result, refused_by) {
            (Ok(_), Some(profile)) if strict => {
                return Err(format!("every rule lets it pass, and {profile} refuses it"));
            }
            (Ok(file), _) => {
                is_sound(&file, bytes.len(), policy).map_err(|reason| format!("{name}: {reason}"))?;
                found.accepted = true;
            }
            (Err(refused), _) if strict => found.rule = Some(refused.rule()),
            (Err(_), _) => refused_by = Some(name),
        }
    }
    Ok(found)
}
