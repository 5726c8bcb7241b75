//! The adapter that this test program is when it is started again.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::thread;
use std::time::Duration;

use gguf_spec::document::Document;
use gguf_spec::judge::judge;
use gguf_spec::profile::Profile;
use gguf_spec::rules::Checks;
use serde_json::{Value as Json, json};

use super::TARGET;

/// The first argument of the child.
pub(super) const CHILD: &str = "__adapter";

/// Serves requests; does the deed when it is time. `state` is a directory that outlives the process.
pub(super) fn main(deed: &str, state: &Path) -> ExitCode {
    if deed == "eat-and-wait" {
        return eat(40);
    }
    let mut answered = 0;
    for line in io::stdin().lock().lines() {
        let Ok(line) = line else { return ExitCode::FAILURE };
        let request: Json = serde_json::from_str(&line).expect("a request");
        let seq = request["seq"].as_u64().expect("a number");
        match request["command"].as_str().expect("a command") {
            "start" => start(deed, state, seq),
            "stop" => match deed {
                "no-stop" => forever(),
                "stop-goes-on" => {
                    say(&json!({"seq": seq, "result": "stopped"}));
                    forever();
                }
                _ => {
                    say(&json!({"seq": seq, "result": "stopped"}));
                    return ExitCode::from(if deed == "stop-exit-4" { 4 } else { 0 });
                }
            },
            _ => {
                let path = Path::new(request["path"].as_str().expect("a path"));
                if deed == "crash-on-second" && answered == 1 {
                    std::process::abort();
                }
                if is_target(path) || deed.ends_with("-always") {
                    keep(path, state);
                    misbehave(deed, state, seq, path);
                } else {
                    say(&right(seq, path));
                }
                answered += 1;
            }
        }
    }
    ExitCode::SUCCESS
}

fn start(deed: &str, state: &Path, seq: u64) {
    let again = state.join("started").exists();
    std::fs::write(state.join("started"), "").expect("a mark");
    let mut protocol = 1;
    match deed {
        "no-start" => {
            eprintln!("no library");
            std::process::exit(9);
        }
        "start-once-and-crash" if again => std::process::exit(1),
        "start-sleeps" => forever(),
        "start-talks" => println!("Welcome!"),
        "start-2" => protocol = 2,
        _ => {}
    }
    let version = if deed == "changes-and-crash" && again { "2" } else { "1" };
    say(&json!({
        "seq": seq, "result": "started", "protocol": protocol, "name": "fake", "version": version,
        "capabilities": ["parse"], "last_stage": "data",
    }));
}

/// What the corpus says of the file, or the specification if it is no vector, up to the stage `data`.
fn right(seq: u64, path: &Path) -> Json {
    let (accepts, document) = match vector(path) {
        Some(vector) => (vector["expect"]["ggml-data@0.25.1"]["outcome"] == "accept", vector["document"].clone()),
        None => specified(path),
    };
    if accepts {
        json!({"seq": seq, "result": "accepted", "document": document})
    } else {
        json!({"seq": seq, "result": "rejected", "message": "as is expected"})
    }
}

/// The vector of a file.
fn vector(path: &Path) -> Option<Json> {
    let text = std::fs::read(path.with_extension("json")).ok()?;
    Some(serde_json::from_slice(&text).expect("JSON"))
}

/// Whether ggml accepts the file with its data, and what is in it.
fn specified(path: &Path) -> (bool, Json) {
    let bytes = std::fs::read(path).expect("the file");
    let judgement = judge(&bytes, &Checks::all());
    let document = judgement.document_for(Profile::GgmlData).map(Document::to_json);
    (judgement.accepts(Profile::GgmlData), document.unwrap_or_default())
}

/// Whether this is the file for the deed: the vector that is the target, or a right file with a tensor.
fn is_target(path: &Path) -> bool {
    if path.with_extension("json").exists() {
        return path.file_stem().is_some_and(|stem| stem == TARGET);
    }
    let (accepts, document) = specified(path);
    accepts && document["tensors"].get(0).is_some()
}

/// Keeps a generated file, whose name is its number, as it is when the deed is done: it is made small later.
fn keep(path: &Path, state: &Path) {
    let generated = path.file_stem().is_some_and(|stem| stem.to_str().is_some_and(|s| s.parse::<u64>().is_ok()));
    if let Some(name) = path.file_name().filter(|_| generated) {
        std::fs::copy(path, state.join(name)).expect("a copy of the file");
    }
}

fn misbehave(deed: &str, state: &Path, seq: u64, path: &Path) {
    let right = right(seq, path);
    // What is done to one file can be done to all.
    match deed.strip_suffix("-always").unwrap_or(deed) {
        "accept" => say(&json!({"seq": seq, "result": "accepted", "document": {}})),
        "reject" => say(&json!({"seq": seq, "result": "rejected", "message": "no reason"})),
        "skip" => say(&json!({"seq": seq, "result": "skipped", "reason": "not today"})),
        "wrong-value" => {
            let mut wrong = right;
            wrong["document"]["tensors"][0]["name"] = json!("another");
            say(&wrong);
        }
        "abort" | "start-once-and-crash" | "changes-and-crash" => {
            eprintln!("last words");
            std::process::abort();
        }
        "crash-once" if !state.join("crashed").exists() => {
            std::fs::write(state.join("crashed"), "").expect("a mark");
            std::process::abort();
        }
        "sleep" => forever(),
        // Twice: the first is for the runtime, which looks whether a stack has overflowed.
        "segfault" => {
            let _ = Command::new("/bin/sh")
                .args(["-c", "kill -SEGV $PPID; sleep 0.1; kill -SEGV $PPID"])
                .stdout(Stdio::null())
                .status();
            forever();
        }
        "panic" => {
            // The way to the panic takes longer to find out than the limit allows.
            std::panic::set_hook(Box::new(|info| eprintln!("{info}")));
            panic!("on purpose");
        }
        "exit-0" => std::process::exit(0),
        "exit-0-with-a-child" => {
            // It keeps standard output open.
            drop(Command::new("sleep").arg("1000").spawn());
            std::process::exit(0);
        }
        "compute" => compute(),
        "compute-in-a-child" => {
            let _ = Command::new("/bin/sh").args(["-c", "while :; do :; done"]).stdout(Stdio::null()).status();
        }
        "eat" => drop(eat(1024)),
        "eat-in-children" => {
            let program = std::env::current_exe().expect("the path of this program");
            for _ in 0..4 {
                let child = Command::new(&program).args([CHILD, "eat-and-wait", ""]).stdin(Stdio::piped()).spawn();
                std::mem::forget(child);
            }
            forever();
        }
        "flood" => loop {
            write(&[b'a'; 4096]);
        },
        "flood-of-lines" => loop {
            write(b"{}\n{}\n{}\n");
        },
        "half-a-line" => {
            write(b"{\"seq\":");
            std::process::exit(0);
        }
        "half-a-line-and-sleep" => {
            write(b"{\"seq\":");
            forever();
        }
        "trickle" => loop {
            write(b" ");
            thread::sleep(Duration::from_millis(1));
        },
        "empty-line" => write(b"\n"),
        "wrong-seq" => say(&with(right, "seq", json!(1000))),
        "old-seq" => say(&with(right, "seq", json!(0))),
        "twice" => write(format!("{right}\n{right}\n").as_bytes()),
        "twice-slowly" => {
            say(&right);
            thread::sleep(Duration::from_millis(100));
            say(&right);
            // The request for the next vector has come meanwhile, and is not answered.
            forever();
        }
        "not-json" => write(b"Loading model\n"),
        "not-utf8" => write(b"{\"seq\":\xff}\n"),
        "unknown-member" => say(&with(right, "documnet", json!({}))),
        "broken-document" => {
            write(format!("{{\"seq\":{seq},\"result\":\"accepted\",\"document\":{{\"a\":\"\\ud800\"}}}}\n").as_bytes());
        }
        "close" => close(),
        _ => say(&right),
    }
}

fn with(mut json: Json, member: &str, value: Json) -> Json {
    json[member] = value;
    json
}

fn say(json: &Json) {
    write(format!("{json}\n").as_bytes());
}

fn write(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    // Nobody listens any more: the runner has had enough.
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn forever() {
    loop {
        thread::sleep(Duration::from_secs(1000));
    }
}

fn compute() {
    let mut n = 0_u64;
    loop {
        n = std::hint::black_box(n.wrapping_add(1));
    }
}

/// Takes this many MiB, and uses them, then waits for its standard input to end.
fn eat(mebibytes: usize) -> ExitCode {
    let mut taken = Vec::new();
    for _ in 0..mebibytes {
        taken.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
    let _ = io::stdin().lock().read_line(&mut String::new());
    drop(taken);
    ExitCode::SUCCESS
}

/// Becomes a program that closes its standard output and lives on.
#[cfg(unix)]
fn close() {
    use std::os::unix::process::CommandExt;
    let error = Command::new("/bin/sh").args(["-c", "exec >&-; sleep 1000"]).exec();
    panic!("{error}");
}

#[cfg(not(unix))]
fn close() {}
