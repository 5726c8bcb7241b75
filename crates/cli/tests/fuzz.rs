//! `assay fuzz` and `assay corpus promote` as they are typed: a campaign against a reader that refuses every
//! file, what it leaves behind, and a finding that becomes a vector of a copy of the corpus.
#![cfg(unix)]

#[path = "common/schema.rs"]
mod schema;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value as Json;

use schema::Schemas;

/// A reader that refuses every file.
const REFUSES: &str = r#"#!/bin/sh
while read -r line; do
seq=${line##*\"seq\":}
seq=${seq%%[,\}]*}
case $line in
*\"start\"*) echo "{\"seq\":$seq,\"result\":\"started\",\"protocol\":1,\"name\":\"refuses\",\"version\":\"1.0\",\"capabilities\":[\"parse\"],\"last_stage\":\"data\"}";;
*\"stop\"*) echo "{\"seq\":$seq,\"result\":\"stopped\"}"; exit 0;;
*) echo "{\"seq\":$seq,\"result\":\"rejected\",\"message\":\"I do not like it\"}";;
esac
done
"#;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join("..")
}

fn script(room: &Path, name: &str, text: &str) {
    let path = room.join(name);
    fs::write(&path, text).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("a script that can be run");
}

fn assay(room: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay")).args(arguments).current_dir(room).output().expect("assay runs")
}

fn json(output: &Output) -> Json {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}{}", complaint(output)))
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A campaign of a few files, and what its summary says.
fn campaign(room: &Path) -> Json {
    script(room, "refuses", REFUSES);
    let words = ["fuzz", "--adapter", "./refuses", "--count", "200", "--seed", "1", "--out", "found", "--json"];
    let output = assay(room, &words);
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    json(&output)
}

#[test]
fn what_a_campaign_finds_is_written_down_and_can_be_seen_again() {
    let room = tempfile::tempdir().expect("a directory");
    let summary = campaign(room.path());
    assert_eq!((&summary["files"], &summary["seed"], &summary["exit"]), (&200.into(), &1.into(), &1.into()));
    let adapter = &summary["adapters"][0];
    assert_eq!(
        (&adapter["name"], &adapter["files"], &adapter["accepted"]),
        (&"refuses".into(), &200.into(), &0.into())
    );
    let groups = summary["groups"].as_array().expect("groups");
    assert!(groups.iter().any(|group| group["signature"]["verdict"] == "false-reject"), "{summary}");

    let schemas = Schemas::load();
    for group in groups {
        let directory = group["directory"].as_str().expect("a reproducer");
        let at = room.path().join(directory);
        let finding: Json = serde_json::from_slice(&fs::read(at.join("finding.json")).expect("it")).expect("JSON");
        assert_eq!(schemas.fault("finding.schema.json", &finding), None);
        assert_eq!(finding["signature"], group["signature"]);
        let page = fs::read_to_string(at.join("README.md")).expect("a page");
        assert!(page.contains(&format!("assay fuzz --replay {directory} --adapter ./refuses")), "{page}");
        let hex = fs::read_to_string(at.join("annotated.hex")).expect("annotated bytes");
        assert!(hex.contains("magic = \"GGUF\"") && !hex.contains('\x1b'), "{hex}");

        let again = assay(room.path(), &["fuzz", "--replay", directory, "--adapter", "./refuses"]);
        assert_eq!(again.status.code(), Some(1), "{}", complaint(&again));
        // Another reader does something else.
        script(room.path(), "crashes", &REFUSES.replace("\n*) echo", "\n*) kill -SEGV $$; echo"));
        let other = assay(room.path(), &["fuzz", "--replay", directory, "--adapter", "./crashes", "--json"]);
        assert_eq!((other.status.code(), &json(&other)["holds"]), (Some(0), &Json::Bool(false)));
    }
}

#[test]
fn a_campaign_is_told_and_goes_on() {
    let room = tempfile::tempdir().expect("a directory");
    campaign(room.path());
    let words = ["fuzz", "--adapter", "./refuses", "--count", "20", "--out", "found", "--resume"];
    let output = assay(room.path(), &words);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    assert!(text.contains("seed 1, no corpus as seeds, goes on after 200 files"), "{text}");
    assert!(text.contains("\n220 files: "), "{text}");
    assert!(text.contains("\nfalse-reject refuses: I do not like it\n"), "{text}");
    let again = ["fuzz", "--adapter", "./refuses", "--count", "20", "--out", "found"];
    let output = assay(room.path(), &again);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("--resume"), "{}", complaint(&output));
}

#[test]
fn one_who_is_put_aside_does_not_end_a_campaign_and_nobody_left_does() {
    let room = tempfile::tempdir().expect("a directory");
    script(room.path(), "refuses", REFUSES);
    script(room.path(), "babbles", &REFUSES.replace("\n*) echo", "\n*) echo hello; echo"));
    let words = ["fuzz", "--adapter", "./babbles", "--adapter", "./refuses", "--count", "70", "--seed", "1"];
    let output = assay(room.path(), &[&words[..], &["--out", "both", "--json"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", complaint(&output));
    let summary = json(&output);
    assert_eq!(summary["adapters"][1]["files"], 70);
    assert!(summary["adapters"][0]["aside"].is_string() && summary["adapters"][1]["aside"].is_null(), "{summary}");
    assert!(complaint(&output).contains("put aside: breaks the protocol"), "{}", complaint(&output));
    let output = assay(room.path(), &["fuzz", "--adapter", "./babbles", "--count", "70", "--out", "one"]);
    assert_eq!(output.status.code(), Some(3), "{}", complaint(&output));
}

#[test]
fn what_was_found_is_told_when_nothing_can_be_written_any_more() {
    let room = tempfile::tempdir().expect("a directory");
    // After a hundred files there is no folder for files any more.
    let ends = "n=$((n+1)); if [ $n = 100 ]; then rm -r */files; for d in */; do : > ${d}files; done; fi; echo";
    script(room.path(), "ends", &REFUSES.replace("\n*) echo", &format!("\n*) {ends}")));
    let words = ["fuzz", "--adapter", "./ends", "--count", "200", "--seed", "1", "--tries", "0", "--jobs", "1"];
    let output = assay(room.path(), &[&words[..], &["--out", "one", "--json"]].concat());
    assert_eq!(output.status.code(), Some(3), "{}", complaint(&output));
    let summary = json(&output);
    assert_eq!((&summary["exit"], &summary["files"]), (&3.into(), &200.into()));
    assert_eq!(summary["groups"][0]["signature"]["verdict"], "false-reject", "{summary}");
    let error = summary["error"].as_str().expect("an error");
    assert!(error.starts_with("one/files/") && complaint(&output).contains(error), "{error}: {}", complaint(&output));

    fs::remove_dir_all(room.path().join("one")).expect("removed");
    let output = assay(room.path(), &[&words[..], &["--out", "two"]].concat());
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{}", complaint(&output));
    assert!(text.contains("\nfalse-reject refuses: I do not like it\n"), "{text}");
    assert!(text.contains("\n200 files: ") && complaint(&output).contains("--resume goes on"), "{text}");
}

/// The files below a directory, by their paths in it.
fn files(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut left = vec![root.to_owned()];
    while let Some(directory) = left.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                left.push(path);
            } else {
                let name = path.strip_prefix(root).expect("below the root").to_owned();
                found.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    found
}

#[test]
fn a_finding_becomes_a_vector_that_is_built_again() {
    let room = tempfile::tempdir().expect("a directory");
    let room = room.path();
    let committed = files(&repository().join("corpus"));
    let copy = |name: &Path, bytes: &[u8]| {
        let path = room.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bytes).expect("a copy");
    };
    for (name, bytes) in &committed {
        copy(&Path::new("corpus").join(name), bytes);
    }
    // The pages and grids are written with the vectors.
    for (name, bytes) in files(&repository().join("spec/grids")) {
        copy(&Path::new("spec/grids").join(name), &bytes);
    }
    copy(Path::new("spec/SPEC.md"), &fs::read(repository().join("spec/SPEC.md")).expect("the page"));
    let built = json(&assay(room, &["corpus", "build", "--json"]));
    assert_eq!((&built["written"], &built["removed"]), (&0.into(), &0.into()), "the committed corpus is not built");

    let summary = campaign(room);
    let group = &summary["groups"].as_array().expect("groups")[0];
    let directory = group["directory"].as_str().expect("a reproducer");
    let name = directory.strip_prefix("found/").expect("below --out");
    let promote = |more: &[&str]| {
        assay(
            room,
            &[&["corpus", "promote", name, "--findings", "found", "--id", "refused-for-nothing"], more].concat(),
        )
    };
    let output = promote(&[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("nothing is wrong with it, and so it is with"), "{}", complaint(&output));
    // A fault of a definition leaves nothing behind.
    let output = promote(&["--force", "--purpose", "no sentence"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("a purpose is a sentence"), "{}", complaint(&output));
    let output = promote(&["--force", "--purpose", "A file.", "--flag", "odd"]);
    assert!(complaint(&output).contains("odd is not on the list of flags"), "{}", complaint(&output));
    assert!(!room.join("corpus").join("found").join("refused-for-nothing.json").exists());

    // What ends some reader is not shipped, whoever it is and whichever name the file is called by.
    let finding = room.join(directory).join("finding.json");
    let as_it_was = fs::read(&finding).expect("the finding");
    for (place, verdict) in
        [("/signature/verdict", "crash"), ("/answers/0/verdict", "hang"), ("/signature/verdict", "?")]
    {
        let mut json: Json = serde_json::from_slice(&as_it_was).expect("JSON");
        *json.pointer_mut(place).expect("a verdict") = verdict.into();
        fs::write(&finding, json.to_string()).expect("a finding");
        let file = format!("{directory}/file.gguf");
        for named in [directory, &file] {
            let line = ["corpus", "promote", named, "--id", "other", "--force", "--purpose", "A file."];
            let output = assay(room, &line);
            assert_eq!(output.status.code(), Some(1), "{place} {verdict} {named}: {}", complaint(&output));
            assert!(complaint(&output).contains("SECURITY.md, rule 2"), "{}", complaint(&output));
        }
    }
    fs::write(&finding, &as_it_was).expect("a finding");
    // What cannot be written leaves a corpus that is built once it can.
    let page = room.join("spec").join("SPEC.md");
    fs::remove_file(&page).and_then(|()| fs::create_dir(&page)).expect("a folder in the place of the page");
    let output = promote(&["--force", "--purpose", "The least right file that a reader refused."]);
    assert_eq!(output.status.code(), Some(3), "{}", complaint(&output));
    assert!(complaint(&output).contains("`assay corpus build` writes what is missing"), "{}", complaint(&output));
    fs::remove_dir(&page).expect("no folder");
    assert_eq!(assay(room, &["corpus", "build"]).status.code(), Some(0));
    let definition = room.join("corpus").join("found").join("refused-for-nothing.json");
    fs::remove_file(&definition).expect("the definition");
    for (name, bytes) in files(&room.join("corpus")) {
        match committed.get(&name) {
            Some(old) if *old != bytes => fs::write(room.join("corpus").join(&name), old).expect("as it was"),
            Some(_) => {}
            None => fs::remove_file(room.join("corpus").join(&name)).expect("as it was"),
        }
    }

    let output = promote(&["--force", "--purpose", "The least right file that a reader refused.", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", complaint(&output));
    assert_eq!(json(&output)["vectors"], built["vectors"].as_u64().expect("a number") + 1);

    let vector = json(&assay(room, &["corpus", "show", "refused-for-nothing", "--json"]));
    let reference = format!("assay fuzz, seed 1, file {}", group["first"]);
    assert_eq!((&vector["origin"]["kind"], &vector["origin"]["reference"]), (&"fuzz".into(), &reference.into()));
    let schemas = Schemas::load();
    let found: Json = serde_json::from_slice(&fs::read(&definition).expect("the definition")).expect("JSON");
    assert_eq!(schemas.fault("found.schema.json", &found), None);
    let bytes = fs::read(room.join(directory).join("file.gguf")).expect("the file");
    assert_eq!(fs::read(room.join("corpus/vectors/found/refused-for-nothing.gguf")).expect("the vector"), bytes);

    // Nothing else has changed, and nothing changes when it is built again.
    for (name, bytes) in files(&room.join("corpus")) {
        let new = name.components().any(|part| part.as_os_str() == "found") || name == Path::new("index.json");
        assert!(new || committed.get(&name) == Some(&bytes), "{}", name.display());
    }
    let again = json(&assay(room, &["corpus", "build", "--json"]));
    assert_eq!((&again["written"], &again["removed"]), (&0.into(), &0.into()));
    assert_eq!(assay(room, &["run", "--filter", "refused-for-nothing"]).status.code(), Some(0));

    // It cannot be promoted twice, and its definition cannot go.
    let output = promote(&["--force", "--purpose", "The same."]);
    assert_eq!(output.status.code(), Some(2));
    assert!(complaint(&output).contains("the id is taken"), "{}", complaint(&output));
    let twice =
        ["corpus", "promote", name, "--findings", "found", "--id", "other", "--force", "--purpose", "The same."];
    let output = assay(room, &twice);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("refused-for-nothing is this very file"), "{}", complaint(&output));
    fs::remove_file(definition).expect("removed");
    let output = assay(room, &["corpus", "build"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(complaint(&output).contains("no definition has it; ids are permanent"), "{}", complaint(&output));
}

#[test]
fn what_is_not_described_is_a_fault() {
    let schemas = Schemas::load();
    let right = serde_json::json!({
        "id": "x", "purpose": "A file.", "reference": "generated input", "bytes": ["00"], "breaks": ["magic.bytes"],
    });
    assert_eq!(schemas.fault("found.schema.json", &right), None);
    let mut more = right.clone();
    more["color"] = "red".into();
    assert_eq!(schemas.fault("found.schema.json", &more).as_deref(), Some("$.color: is not described"));
    let mut less = right.clone();
    less.as_object_mut().expect("an object").remove("bytes");
    assert!(schemas.fault("found.schema.json", &less).is_some_and(|fault| fault.starts_with("$: required")));
    let mut other = right;
    other["breaks"] = Json::Array(Vec::new());
    assert!(schemas.fault("found.schema.json", &other).is_some_and(|fault| fault.starts_with("$.breaks: minItems")));
}
