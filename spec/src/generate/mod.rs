//! Trees: valid ones, one way to break each rule, edits of any file, and the least file of its kind.
//!
//! Everything is drawn from a seed and nothing else, so that a name replays a file. Generation is
//! swarm-configured: each seed first draws *which* features may occur ([`Config`]), then the tree.

mod breaking;
mod build;
mod config;
mod large;
mod minimize;
mod mutate;
#[cfg(feature = "proptest")]
pub mod strategy;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

pub use breaking::{Broken, breaking, nested};
pub use build::{Builder, array, fixed_array, pair, scalar, string, string_array, tensor};
pub use config::Config;
pub use large::{Large, keeping_large, large};
pub use minimize::minimized;
pub use mutate::{crossed, disturbed, interesting, mutated};

use crate::syntax::Tree;

/// A tree without findings: every profile accepts its bytes.
#[must_use]
pub fn valid(seed: u64) -> Tree<'static> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let config = Config::draw(&mut rng);
    valid_with(&config, &mut rng)
}

/// A tree without findings, with the given features.
#[must_use]
pub fn valid_with(config: &Config, rng: &mut ChaCha8Rng) -> Tree<'static> {
    config.builder(rng).finish()
}

#[cfg(test)]
mod tests;
