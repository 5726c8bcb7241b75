// A reader of GGUF metadata, and the adapter that puts it before Assay. Needs Node.js 18, no package.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
class Refused extends Error {} // a refusal; any other error is a fault of the reader, and ends the program
// The value types in the order of their numbers, and what DataView calls them. 64-bit integers are BigInt.
const KINDS = Object.entries({ u8: "Uint8", i8: "Int8", u16: "Uint16", i16: "Int16", u32: "Uint32", i32: "Int32",
  f32: "Float32", bool: "Uint8", string: "", array: "", u64: "BigUint64", i64: "BigInt64", f64: "Float64" });
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function read(path) {
  const bytes = readFileSync(path), view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const refuse = (why) => { throw new Refused(`${why}, before byte ${at}`); };
  const take = (size) => { // where the next bytes start
    if (size > bytes.length - at) refuse(`${size} bytes are wanted and ${bytes.length - at} left`);
    return (at += Number(size)) - Number(size);
  };
  const number = (name) => view[`get${name}`](take(/\d+/.exec(name) / 8), true);
  const text = (length) => {
    const start = take(length);
    try { return UTF8.decode(bytes.subarray(start, at)); } catch { return refuse("text that is not UTF-8"); }
  };
  const kind = () => KINDS[number("Uint32")] ?? refuse("a value type that is not assigned");
  const value = ([type, name]) => {
    if (type === "array") refuse("an array of arrays");
    if (type === "string") return text(number("BigUint64"));
    const n = number(name); // String drops the sign of -0
    return type === "bool" ? n !== 0 : Object.is(n, -0) ? "-0" : String(n).replace("Infinity", "inf");
  };
  const pair = () => {
    const key = text(number("BigUint64")), [type, name] = kind(), items = type === "array" ? kind() : null;
    if (key === "" || key.includes("\0")) refuse("a key that is empty or has a NUL");
    if (items) return { key, type, items: items[0], value: list(number("BigUint64"), () => value(items)) };
    return { key, type, value: value([type, name]) };
  };
  const list = (length, item) => { const all = []; while (all.length < length) all.push(item()); return all; };
  const magic = text(4), version = number("Uint32"), tensors = number("BigUint64"), pairs = number("BigUint64");
  if (magic !== "GGUF" || ![2, 3].includes(version) || tensors > bytes.length) refuse("another format, or a bad count");
  const metadata = list(pairs, pair), alignments = metadata.filter(({ key }) => key === "general.alignment");
  for (const { type, value } of alignments)
    if (type !== "u32" || value === "0" || value % 8 !== 0) refuse(`an alignment of ${value} (${type})`);
  return { version, metadata };
}

const ABOUT = { result: "started", protocol: 1, name: "example-javascript", version: "1", language: "JavaScript",
  homepage: "https://example.org", capabilities: ["parse"], last_stage: "metadata",
  omits: ["byte_order", "alignment", "data_offset", "tensors", "metadata.bits", "metadata.byte"] };
const parse = (path) => {
  try { return { result: "accepted", document: read(path) }; } catch (error) {
    if (error instanceof Refused) return { result: "rejected", message: error.message };
    throw error;
  }
};
for await (const line of createInterface({ input: process.stdin })) {
  const { seq, command, path } = JSON.parse(line);
  const answer = command === "start" ? ABOUT : command === "parse" ? parse(path) : { result: "stopped" };
  console.log(JSON.stringify({ seq, ...answer }));
  if (command === "stop") process.exit();
}
