//! The command that starts an adapter.

use std::io;
use std::path::Path;
use std::process::Command;

/// A program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    words: Vec<String>,
}

impl Program {
    /// Reads a command line: the path of a program, or words divided as a shell divides them.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words = if Path::new(text).is_file() { Some(vec![text.to_owned()]) } else { shlex::split(text) };
        let Some(mut words) = words else {
            return Err(format!("{text:?}: a quote is not closed"));
        };
        let Some(program) = words.first_mut() else {
            return Err(
                "the command of an adapter is empty; give a program, such as ./mine or \"python3 mine.py\"".to_owned()
            );
        };
        // A file of this folder is meant, not one of the same name on the search path.
        if Path::new(program.as_str()).components().count() == 1 && Path::new(program.as_str()).is_file() {
            *program = Path::new(".").join(&*program).display().to_string();
        }
        Ok(Self { words })
    }

    /// A program with these arguments.
    #[must_use]
    pub fn new(words: Vec<String>) -> Self {
        Self { words }
    }

    /// The words of the command line, the program first.
    #[must_use]
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// The command, to be started.
    #[must_use]
    pub fn command(&self) -> Command {
        let (program, arguments) = self.words.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
        let mut command = Command::new(program);
        // With a backtrace the end of what a program says is not what went wrong.
        command.args(arguments).env("RUST_BACKTRACE", "0");
        command
    }

    /// Why the command could not be started, and what to do.
    #[must_use]
    pub fn why(&self, error: &io::Error) -> String {
        let program = self.words.first().map_or("", String::as_str);
        let quoted = |word: &str| shlex::try_quote(word).map_or_else(|_| word.to_owned(), std::borrow::Cow::into_owned);
        let shown = quoted(program);
        let there = Path::new(program).is_file();
        let interpreter = match Path::new(program).extension().and_then(|extension| extension.to_str()) {
            Some("py") => "python3",
            Some("js" | "mjs" | "cjs") => "node",
            Some("sh") => "sh",
            _ => "",
        };
        let by_interpreter = match interpreter {
            "" => String::new(),
            name => format!(", or name the interpreter: --adapter \"{name} {shown}\""),
        };
        /// What Linux says of a file that is neither a program nor starts with `#!`.
        const NOT_A_PROGRAM: i32 = 8;
        match error.kind() {
            io::ErrorKind::PermissionDenied if there => {
                format!("{program}: is not executable; type `chmod +x {shown}`{by_interpreter}")
            }
            io::ErrorKind::NotFound if there => {
                format!("{program}: the interpreter named in its first line is not there{by_interpreter}")
            }
            io::ErrorKind::NotFound => {
                format!("{program}: there is no such program; give the path of one, such as ./{program}")
            }
            _ if error.raw_os_error() == Some(NOT_A_PROGRAM) => {
                format!(
                    "{program}: is no program, and has no first line such as `#!/usr/bin/env python3`{by_interpreter}"
                )
            }
            _ => format!("{program}: cannot be started: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_are_divided_as_a_shell_divides_them() {
        let words = |text: &str| Program::parse(text).map(|program| program.words);
        assert_eq!(
            words("python3 'my reader.py' -v"),
            Ok(["python3", "my reader.py", "-v"].map(String::from).to_vec())
        );
        assert!(words("python3 'x").is_err_and(|why| why.contains("a quote is not closed")));
        assert!(words(" ").is_err_and(|why| why.contains("is empty")));
    }

    #[test]
    fn the_path_of_a_file_is_not_divided() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("my reader.py");
        std::fs::write(&path, "").expect("written");
        let text = path.to_str().expect("UTF-8");
        assert_eq!(Program::parse(text).map(|program| program.words), Ok(vec![text.to_owned()]));
    }

    #[test]
    fn what_cannot_be_started_is_told_with_what_to_do() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("reader.py");
        std::fs::write(&path, "print()\n").expect("written");
        let program = Program::parse(path.to_str().expect("UTF-8")).expect("a program");
        let why = |kind: io::ErrorKind| program.why(&io::Error::from(kind));
        assert!(why(io::ErrorKind::PermissionDenied).contains("chmod +x"));
        assert!(why(io::ErrorKind::PermissionDenied).contains("--adapter \"python3 "));
        assert!(why(io::ErrorKind::NotFound).contains("the interpreter"));
        let missing = Program::parse("no-such-reader").expect("a program");
        assert!(missing.why(&io::Error::from(io::ErrorKind::NotFound)).contains("./no-such-reader"));
    }
}
