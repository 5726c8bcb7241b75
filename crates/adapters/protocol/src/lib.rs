//! The adapter protocol, version 1, for adapters written in Rust: [`serve`] reads requests and writes
//! answers, one line of JSON each, and calls back for every file that is to be read.
//!
//! Nothing here catches a panic: a reader that panics on a file ends the process, and the runner
//! records a crash, which is what happened.
#![forbid(unsafe_code)]

use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};

use gguf_spec::rules::Stage;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Value as Json, json};

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// What an adapter says of the reader behind it when it is started.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// The name of the reader, which is also the name of its expectation file.
    pub name: String,
    /// Its exact version.
    pub version: String,
    /// The language it is written in.
    pub language: String,
    /// Where it lives.
    pub homepage: String,
    /// The last stage it judges.
    #[serde(serialize_with = "stage_name")]
    pub last_stage: Stage,
    /// The versions of the format it claims to read; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<u32>,
    /// The byte orders it claims to read, `little` or `big`; empty for both.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub byte_orders: Vec<&'static str>,
    /// The names of the tensor types it claims to read; empty for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tensor_types: Vec<&'static str>,
    /// What of a document it never shows, in the words of the protocol.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omits: Vec<&'static str>,
}

fn stage_name<S: Serializer>(stage: &Stage, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(stage.name())
}

/// What a reader did with a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// It read the file.
    Accepted {
        /// What it read, in the JSON form of a document, less what the reader does not show.
        document: Json,
        /// Places of this document that the reader does not show, beside what it never shows.
        omits: Vec<String>,
    },
    /// It refused the file.
    Rejected {
        /// Why, in its own words.
        message: String,
    },
    /// It was not asked, because the file does not concern it.
    Skipped {
        /// Why.
        reason: String,
    },
}

impl Answer {
    fn to_json(&self, seq: u64) -> Json {
        match self {
            Self::Accepted { document, omits } if omits.is_empty() => {
                json!({"seq": seq, "result": "accepted", "document": document})
            }
            Self::Accepted { document, omits } => {
                json!({"seq": seq, "result": "accepted", "document": document, "omits": omits})
            }
            Self::Rejected { message } => json!({"seq": seq, "result": "rejected", "message": message}),
            Self::Skipped { reason } => json!({"seq": seq, "result": "skipped", "reason": reason}),
        }
    }
}

#[derive(Deserialize)]
struct Request {
    seq: u64,
    #[serde(flatten)]
    command: Command,
}

#[derive(Deserialize)]
#[serde(tag = "command", rename_all = "lowercase")]
enum Command {
    Start { protocol: u32 },
    Parse { path: PathBuf },
    Stop,
}

/// Answers requests until `stop` or the end of the input, calling `parse` for every file.
///
/// # Errors
///
/// If the input or output fails, or a request is not one of protocol version 1 that this adapter has
/// the capability for: the program should then end with an error.
pub fn serve(
    about: &About,
    mut parse: impl FnMut(&Path) -> Answer,
    input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        let request: Request = serde_json::from_str(&line)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, format!("not a request: {error}: {line}")))?;
        let seq = request.seq;
        let (answer, last) = match request.command {
            Command::Start { protocol: PROTOCOL } => (started(about, seq)?, false),
            Command::Start { protocol } => {
                let message = format!("protocol {protocol} is not spoken here, only {PROTOCOL}");
                return Err(io::Error::new(io::ErrorKind::Unsupported, message));
            }
            Command::Parse { path } => (parse(&path).to_json(seq), false),
            Command::Stop => (json!({"seq": seq, "result": "stopped"}), true),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
        if last {
            break;
        }
    }
    Ok(())
}

fn started(about: &About, seq: u64) -> io::Result<Json> {
    let mut answer = serde_json::to_value(about)?;
    answer["seq"] = json!(seq);
    answer["result"] = json!("started");
    answer["protocol"] = json!(PROTOCOL);
    answer["capabilities"] = json!(["parse"]);
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn about() -> About {
        About {
            name: "fake".to_owned(),
            version: "1".to_owned(),
            language: "Rust".to_owned(),
            homepage: "https://example.org".to_owned(),
            last_stage: Stage::TensorTable,
            versions: vec![2, 3],
            byte_orders: Vec::new(),
            tensor_types: Vec::new(),
            omits: vec!["alignment"],
        }
    }

    fn talk(input: &str) -> (io::Result<()>, Vec<Json>) {
        let mut output = Vec::new();
        let parse = |path: &Path| match path.to_str() {
            Some("/good") => Answer::Accepted { document: json!({}), omits: Vec::new() },
            Some("/partly") => Answer::Accepted { document: json!({}), omits: vec!["metadata[0].value".to_owned()] },
            Some("/skip") => Answer::Skipped { reason: "no".to_owned() },
            _ => Answer::Rejected { message: "bad".to_owned() },
        };
        let result = serve(&about(), parse, input.as_bytes(), &mut output);
        let text = String::from_utf8(output).unwrap();
        (result, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    }

    #[test]
    fn every_request_has_its_answer() {
        let (result, answers) = talk(concat!(
            "{\"seq\":0,\"command\":\"start\",\"protocol\":1}\n",
            "{\"seq\":1,\"command\":\"parse\",\"path\":\"/good\"}\n",
            "{\"seq\":2,\"command\":\"parse\",\"path\":\"/partly\"}\n",
            "{\"seq\":3,\"command\":\"parse\",\"path\":\"/bad\"}\n",
            "{\"seq\":4,\"command\":\"parse\",\"path\":\"/skip\"}\n",
            "{\"seq\":5,\"command\":\"stop\"}\n",
            "{\"seq\":6,\"command\":\"parse\",\"path\":\"/not-asked\"}\n",
        ));
        result.unwrap();
        let expected = [
            json!({"seq": 0, "result": "started", "protocol": 1, "name": "fake", "version": "1", "language": "Rust",
                   "homepage": "https://example.org", "capabilities": ["parse"], "last_stage": "tensor-table",
                   "versions": [2, 3], "omits": ["alignment"]}),
            json!({"seq": 1, "result": "accepted", "document": {}}),
            json!({"seq": 2, "result": "accepted", "document": {}, "omits": ["metadata[0].value"]}),
            json!({"seq": 3, "result": "rejected", "message": "bad"}),
            json!({"seq": 4, "result": "skipped", "reason": "no"}),
            json!({"seq": 5, "result": "stopped"}),
        ];
        assert_eq!(answers, expected);
    }

    #[test]
    fn what_is_no_request_ends_the_conversation() {
        for line in [
            "{\"seq\":0,\"command\":\"start\",\"protocol\":2}\n",
            "{\"seq\":0,\"command\":\"dance\"}\n",
            "{\"command\":\"stop\"}\n",
            "hello\n",
        ] {
            let (result, answers) = talk(line);
            assert!(result.is_err(), "{line}");
            assert_eq!(answers, [] as [Json; 0], "{line}");
        }
    }
}
