//! Builds the corpus of the repository in the current directory.
fn main() {
    match assay_corpus::build::write(std::path::Path::new(".")) {
        Ok(report) => println!("{report:?}"),
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(1)
        }
    }
}
