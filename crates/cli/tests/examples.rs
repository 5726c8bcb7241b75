//! The examples in the help texts work: those that need no file of the user are run.

use std::path::Path;
use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..");
    Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).current_dir(root).output().expect("the command")
}

#[test]
fn examples_of_the_help_texts_work() {
    let helps: [&[&str]; 6] = [&["run"], &["explain"], &["gen"], &["corpus"], &["corpus", "list"], &["corpus", "show"]];
    let mut ran = 0;
    for command in helps {
        let output = assay(&[&["help"], command].concat());
        let help = String::from_utf8(output.stdout).expect("UTF-8");
        for line in help.lines().filter_map(|line| line.strip_prefix("  assay ")) {
            let example = line.split("  ").next().unwrap_or_default();
            // These write files, or speak of directories and programs that are not here.
            if ["--out", "--ggml", "build", "diff", "promote", "--corpus", "--adapter"]
                .iter()
                .any(|word| example.contains(word))
            {
                continue;
            }
            let arguments: Vec<&str> = example.split_whitespace().collect();
            let output = assay(&arguments);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_eq!(output.status.code(), Some(0), "assay {example}: {told}");
            ran += 1;
        }
    }
    assert!(ran >= 10, "only {ran} examples were found");
}
