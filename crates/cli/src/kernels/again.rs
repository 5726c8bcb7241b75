//! The command that puts a question again.

use super::Args;

/// The command up to the names of questions: whose kernels, as they were named.
pub(super) fn command(args: &Args) -> String {
    let mut words = vec!["assay".to_owned(), "kernels".to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
    for whose in &args.provider {
        option("--provider", whose);
    }
    if let Some(directory) = &args.ggml_dir {
        option("--ggml-dir", &directory.to_string_lossy());
    }
    for build in &args.build {
        option("--build", build);
    }
    words.join(" ")
}

/// A word as a shell takes it for one.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:,@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_where_a_shell_would_divide_them() {
        assert_eq!(quoted("./libmine.so"), "./libmine.so");
        assert_eq!(quoted("my libs/it's.so"), r"'my libs/it'\''s.so'");
        assert_eq!(quoted(""), "''");
    }
}
