//! The messages of the adapter protocol: one JSON object a line, in both directions.

use std::collections::BTreeMap;
use std::path::Path;

use gguf_spec::rules::Stage;
use gguf_spec::syntax::ByteOrder;
use gguf_spec::types::TensorType;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use super::omit::Omits;

/// The version of the protocol that is spoken here.
pub const PROTOCOL: u64 = 1;

/// What an adapter is told to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Say who you are.
    Start,
    /// Read this file.
    Parse(&'a str),
    /// Read the first file, and write what was read to the second.
    Roundtrip {
        /// The file to read.
        input: &'a str,
        /// The file to write.
        output: &'a str,
    },
    /// End.
    Stop,
}

impl Request<'_> {
    /// The line, without its end.
    #[must_use]
    pub fn line(&self, seq: u64) -> String {
        match self {
            Self::Start => json!({"seq": seq, "command": "start", "protocol": PROTOCOL}),
            Self::Parse(path) => json!({"seq": seq, "command": "parse", "path": path}),
            Self::Roundtrip { input, output } => {
                json!({"seq": seq, "command": "roundtrip", "in": input, "out": output})
            }
            Self::Stop => json!({"seq": seq, "command": "stop"}),
        }
        .to_string()
    }
}

/// The path of a file as a request states it: absolute, and UTF-8.
///
/// # Errors
///
/// What is wrong with the path.
pub fn stated(path: &Path) -> Result<String, String> {
    let absolute = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let text = absolute.into_os_string().into_string();
    text.map_err(|path| format!("{}: an adapter cannot be told a path that is not UTF-8", path.display()))
}

/// What a reader can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// To read a file.
    Parse,
    /// To write what it read.
    Roundtrip,
    /// To decode the blocks of a tensor.
    Dequantize,
    /// To run a model.
    Logits,
}

impl Capability {
    const ALL: [Self; 4] = [Self::Parse, Self::Roundtrip, Self::Dequantize, Self::Logits];

    /// The word in a message.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Roundtrip => "roundtrip",
            Self::Dequantize => "dequantize",
            Self::Logits => "logits",
        }
    }
}

/// What an adapter says of the reader behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Started {
    /// The name, which is also that of its file of expectations.
    pub name: String,
    /// The version of the reader.
    pub version: String,
    /// The language it is written in; empty if it was not said.
    pub language: String,
    /// Where it comes from; empty if it was not said.
    pub homepage: String,
    /// What it can be asked for.
    pub capabilities: Vec<Capability>,
    /// What it judges, and what it claims to read.
    pub claims: Claims,
    /// What of a document it never shows.
    pub omits: Omits,
}

/// What a reader judges, and what it claims to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// The last stage that it judges.
    pub last_stage: Stage,
    /// The versions of the format that it claims to read; `None` for all.
    pub versions: Option<Vec<u32>>,
    /// The byte orders that it claims to read; `None` for both.
    pub byte_orders: Option<Vec<ByteOrder>>,
    /// The numbers of the tensor types that it claims to know; `None` for all.
    pub tensor_types: Option<Vec<u32>>,
}

/// What an adapter answers when it is asked about a file.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The reader reads the file.
    Accepted {
        /// What it reads, as text that is JSON; `None` if it says nothing of it.
        document: Option<String>,
        /// What of this document it cannot show, beside what it never shows.
        omits: Omits,
    },
    /// The reader wrote the file it was asked for.
    Written,
    /// The reader does not read the file.
    Rejected {
        /// Why, in its own words.
        message: String,
        /// Whether this was an exception that is not meant as a refusal.
        incidental: bool,
    },
    /// The adapter does not ask the reader.
    Skipped {
        /// Why.
        reason: String,
    },
}

/// Bytes of the longest version, which stands in every report.
const LONGEST_VERSION: usize = 200;

/// Reads the answer to `start`.
///
/// # Errors
///
/// What is wrong with the line.
pub fn read_started(line: &[u8], seq: u64) -> Result<(Started, Json), String> {
    let mut members = Members::read(line, seq)?;
    members.expect_result(&["started"])?;
    let protocol: u64 = members.need("protocol")?;
    if protocol != PROTOCOL {
        return Err(format!("`protocol` is {protocol}; this program speaks {PROTOCOL}"));
    }
    let name: String = members.need("name")?;
    check_name(&name)?;
    let version: String = members.need("version")?;
    if version.is_empty() {
        return Err("`version` is empty; say which version of the reader answers".to_owned());
    }
    if version.len() > LONGEST_VERSION || version.chars().any(char::is_control) {
        let what = "has more than 200 bytes or is no line of text; say which version of the reader answers";
        return Err(format!("`version` {what}"));
    }
    let words: Vec<String> = members.need("capabilities")?;
    let capabilities = words.iter().map(|word| known(word, "capabilities", Capability::ALL, Capability::name));
    let capabilities = capabilities.collect::<Result<Vec<_>, _>>()?;
    if !capabilities.contains(&Capability::Parse) {
        return Err("`capabilities` lacks `parse`, which is all that is asked for".to_owned());
    }
    let stage: String = members.need("last_stage")?;
    let orders = [ByteOrder::Little, ByteOrder::Big];
    let claims = Claims {
        last_stage: known(&stage, "last_stage", Stage::ALL, Stage::name)?,
        versions: members.take("versions")?,
        byte_orders: match members.take::<Vec<String>>("byte_orders")? {
            None => None,
            Some(words) => {
                Some(words.iter().map(|w| known(w, "byte_orders", orders, ByteOrder::name)).collect::<Result<_, _>>()?)
            }
        },
        tensor_types: match members.take::<Vec<String>>("tensor_types")? {
            None => None,
            Some(names) => Some(names.iter().map(|name| tensor_type(name)).collect::<Result<_, _>>()?),
        },
    };
    let started = Started {
        name,
        version,
        language: members.take("language")?.unwrap_or_default(),
        homepage: members.take("homepage")?.unwrap_or_default(),
        capabilities,
        claims,
        omits: Omits::read(&members.take::<Vec<String>>("omits")?.unwrap_or_default())?,
    };
    if started.omits.has_paths() {
        return Err("`omits` of `started` takes words; paths belong to the answer about one file".to_owned());
    }
    members.finish("started")?;
    let json = serde_json::from_slice(line).map_err(|error| format!("not JSON: {error}"))?;
    Ok((started, json))
}

/// Reads the answer to a request about a file.
///
/// # Errors
///
/// What is wrong with the line.
pub fn read_answer(line: &[u8], seq: u64, request: &Request<'_>) -> Result<Answer, String> {
    let mut members = Members::read(line, seq)?;
    let good = if matches!(request, Request::Parse(_)) { "accepted" } else { "written" };
    let result = members.expect_result(&[good, "rejected", "skipped"])?;
    let answer = match result.as_str() {
        "rejected" => Answer::Rejected {
            message: members.need("message")?,
            incidental: members.take("incidental")?.unwrap_or(false),
        },
        "skipped" => Answer::Skipped { reason: members.need("reason")? },
        "written" => Answer::Written,
        _ => {
            let document = members.raw("document").map(|raw| raw.get().to_owned());
            if document.as_ref().is_some_and(|text| !text.starts_with('{')) {
                return Err("`document` is not an object".to_owned());
            }
            let omits = Omits::read(&members.take::<Vec<String>>("omits")?.unwrap_or_default())?;
            Answer::Accepted { document, omits }
        }
    };
    members.finish(&result)?;
    Ok(answer)
}

/// Reads the answer to `stop`.
///
/// # Errors
///
/// What is wrong with the line.
pub fn read_stopped(line: &[u8], seq: u64) -> Result<(), String> {
    let mut members = Members::read(line, seq)?;
    members.expect_result(&["stopped"])?;
    members.finish("stopped")
}

/// The members of an answer that were not looked at yet. Values are kept as text: one that nobody looks
/// at may be nested as deep as it likes.
struct Members(BTreeMap<String, Box<RawValue>>);

impl Members {
    fn read(line: &[u8], seq: u64) -> Result<Self, String> {
        let text = std::str::from_utf8(line).map_err(|_| format!("not UTF-8: {}", start_of(line)))?;
        let members = serde_json::from_str(text);
        let mut members = Self(members.map_err(|error| match text.trim_start().starts_with('{') {
            true => format!("not JSON: {error}: {}", start_of(line)),
            false => format!("not a JSON object: {}", start_of(line)),
        })?);
        let found: u64 = members.need("seq")?;
        if found != seq {
            return Err(format!("`seq` is {found}, in the answer to {seq}"));
        }
        Ok(members)
    }

    fn raw(&mut self, name: &str) -> Option<Box<RawValue>> {
        self.0.remove(name)
    }

    fn take<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, String> {
        let Some(raw) = self.raw(name) else { return Ok(None) };
        serde_json::from_str(raw.get()).map(Some).map_err(|error| format!("`{name}`: {}", without_place(&error)))
    }

    fn need<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, String> {
        self.take(name)?.ok_or_else(|| format!("no `{name}`"))
    }

    /// The word in `result`; a refusal of `start` is told in the words of the adapter.
    fn expect_result(&mut self, words: &[&str]) -> Result<String, String> {
        let result: String = self.need("result")?;
        if words.contains(&result.as_str()) {
            return Ok(result);
        }
        let why = self.take::<String>("message").ok().flatten().map(|why| format!(" ({why})")).unwrap_or_default();
        Err(format!("`result` is {result:?}{why}; expected {}", listed(words.iter().copied())))
    }

    fn finish(self, result: &str) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("`{name}` is no member of an answer with the result `{result}`")),
        }
    }
}

/// Whether a line is a JSON object.
pub(super) fn is_object(line: &[u8]) -> bool {
    serde_json::from_slice::<BTreeMap<String, Box<RawValue>>>(line).is_ok()
}

/// The number that a line gives for that of its request.
pub(super) fn seq_of(line: &[u8]) -> Option<u64> {
    let members: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(line).ok()?;
    members.get("seq")?.get().parse().ok()
}

/// The start of a line, for a message.
pub(super) fn start_of(line: &[u8]) -> String {
    const LONGEST: usize = 80;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * LONGEST)]);
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?}… ({} bytes)", &text[..end], line.len()),
        None => format!("{text:?}"),
    }
}

/// What serde says, without a line number that counts inside one value.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split(" at line ").next().unwrap_or_default().to_owned()
}

fn check_name(name: &str) -> Result<(), String> {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.".contains(&b);
    let first = name.bytes().next().is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    if first && name.len() <= 64 && name.bytes().all(inner) {
        return Ok(());
    }
    Err(format!(
        "`name` is {name:?}; a name is at most 64 of a-z, 0-9, `-`, `_` and `.`, and starts with a letter or digit"
    ))
}

fn known<T: Copy>(
    word: &str,
    member: &str,
    all: impl IntoIterator<Item = T>,
    name: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let mut names = Vec::new();
    for candidate in all {
        if name(candidate) == word {
            return Ok(candidate);
        }
        names.push(name(candidate));
    }
    Err(format!("`{member}` has {word:?}; expected {}", listed(names.into_iter())))
}

fn tensor_type(name: &str) -> Result<u32, String> {
    match TensorType::from_name(name) {
        Some(ty) => Ok(ty.id),
        None => {
            Err(format!("`tensor_types` has {name:?}, which is no tensor type; names are those of ggml, such as Q4_0"))
        }
    }
}

fn listed<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTED: &str = r#"{"seq":0,"result":"started","protocol":1,"name":"x","version":"1","capabilities":["parse"],"last_stage":"layout"}"#;

    fn started(change: impl FnOnce(&mut serde_json::Map<String, Json>)) -> Result<Started, String> {
        let mut json: Json = serde_json::from_str(STARTED).expect("JSON");
        change(json.as_object_mut().expect("an object"));
        read_started(json.to_string().as_bytes(), 0).map(|(started, _)| started)
    }

    fn answer(line: &str) -> Result<Answer, String> {
        read_answer(line.as_bytes(), 7, &Request::Parse("x"))
    }

    #[test]
    fn requests_are_one_line_each() {
        assert_eq!(Request::Start.line(0), r#"{"command":"start","protocol":1,"seq":0}"#);
        assert_eq!(Request::Parse("a\n\"b").line(1), r#"{"command":"parse","path":"a\n\"b","seq":1}"#);
        assert_eq!(Request::Stop.line(u64::MAX), r#"{"command":"stop","seq":18446744073709551615}"#);
    }

    #[test]
    fn what_is_left_out_of_started_is_everything() {
        let least = started(|_| {}).expect("valid");
        assert_eq!(
            least.claims,
            Claims { last_stage: Stage::Layout, versions: None, byte_orders: None, tensor_types: None }
        );
        let most = started(|o| {
            o.insert("versions".into(), json!([2, 3]));
            o.insert("byte_orders".into(), json!(["little"]));
            o.insert("tensor_types".into(), json!(["F32", "Q4_0"]));
            o.insert("omits".into(), json!(["metadata.order"]));
            o.insert("language".into(), json!("C"));
        })
        .expect("valid");
        assert_eq!(most.claims.tensor_types, Some(vec![0, 2]));
        assert_eq!(most.claims.byte_orders, Some(vec![ByteOrder::Little]));
    }

    #[test]
    fn a_wrong_start_is_told_in_a_sentence() {
        type Change = fn(&mut serde_json::Map<String, Json>);
        let cases: [(Change, &str); 10] = [
            (|o| drop(o.insert("protocol".into(), json!(2))), "`protocol` is 2; this program speaks 1"),
            (|o| drop(o.insert("name".into(), json!("../x"))), "`name` is \"../x\"; a name is at most 64"),
            (|o| drop(o.insert("name".into(), json!(""))), "`name` is \"\""),
            (|o| drop(o.remove("version")), "no `version`"),
            (|o| drop(o.insert("capabilities".into(), json!(["logits"]))), "`capabilities` lacks `parse`"),
            (|o| drop(o.insert("last_stage".into(), json!("end"))), "`last_stage` has \"end\"; expected `magic`"),
            (|o| drop(o.insert("tensor_types".into(), json!(["q9"]))), "`tensor_types` has \"q9\""),
            (|o| drop(o.insert("omits".into(), json!(["metadata[0].value"]))), "`omits` of `started` takes words"),
            (|o| drop(o.insert("verison".into(), json!("1"))), "`verison` is no member"),
            (|o| drop(o.insert("result".into(), json!("rejected"))), "`result` is \"rejected\"; expected `started`"),
        ];
        for (change, start) in cases {
            let error = started(change).expect_err(start);
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn answers_are_read() {
        let accepted =
            answer(r#"{"seq":7,"result":"accepted","document":{"version":3},"omits":["tensors[0].offset"]}"#);
        assert!(matches!(accepted, Ok(Answer::Accepted { document: Some(text), .. }) if text == r#"{"version":3}"#));
        let rejected = answer(r#"{"seq":7,"result":"rejected","message":"no","incidental":true}"#);
        assert!(matches!(rejected, Ok(Answer::Rejected { incidental: true, .. })));
        assert!(matches!(answer(r#"{"seq":7,"result":"skipped","reason":"?"}"#), Ok(Answer::Skipped { .. })));
        // As deep as it likes: nobody looks.
        let deep =
            format!(r#"{{"seq":7,"result":"accepted","document":{{"a":{}0{}}}}}"#, "[".repeat(9000), "]".repeat(9000));
        assert!(matches!(answer(&deep), Ok(Answer::Accepted { .. })));
    }

    #[test]
    fn a_wrong_answer_is_told_in_a_sentence() {
        for (line, start) in [
            ("", "not a JSON object: \"\""),
            ("hello", "not a JSON object: \"hello\""),
            ("{\"seq\":7", "not JSON: EOF"),
            ("[7]", "not a JSON object"),
            (r#"{"result":"rejected"}"#, "no `seq`"),
            (r#"{"seq":6,"result":"rejected","message":""}"#, "`seq` is 6, in the answer to 7"),
            (r#"{"seq":-7,"result":"rejected","message":""}"#, "`seq`: invalid value"),
            (r#"{"seq":7,"result":"rejected"}"#, "no `message`"),
            (r#"{"seq":7,"result":"rejected","message":null}"#, "`message`: invalid type: null"),
            (r#"{"seq":7,"result":"rejected","message":"","extra":1}"#, "`extra` is no member"),
            (r#"{"seq":7,"result":"accepted","document":[]}"#, "`document` is not an object"),
            (r#"{"seq":7,"result":"accepted","omits":["colour"]}"#, "`omits` has \"colour\""),
            (r#"{"seq":7,"result":"written"}"#, "`result` is \"written\"; expected `accepted`, `rejected`, `skipped`"),
        ] {
            let error = answer(line).expect_err(line);
            assert!(error.starts_with(start), "{line}: {error}");
        }
        let error = read_answer(b"{\"seq\":7,\"\xff\":0}", 7, &Request::Stop).expect_err("not UTF-8");
        assert!(error.starts_with("not UTF-8"), "{error}");
        assert_eq!(read_stopped(br#"{"seq":9,"result":"stopped"}"#, 9), Ok(()));
    }
}
