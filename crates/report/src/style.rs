//! What the few colours mean. Styles are always written; a stream that is no terminal takes them out.

use anstyle::{AnsiColor, Style};

/// A title, a path, the thing that is spoken of.
pub const BOLD: Style = Style::new().bold();
/// What can be skipped on a first reading.
pub const DIM: Style = Style::new().dimmed();
/// An error.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// A warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// All is well.
pub const GOOD: Style = AnsiColor::Green.on_default();
/// The id of a rule, of a vector or of a profile.
pub const ID: Style = AnsiColor::Cyan.on_default();
