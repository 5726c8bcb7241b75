#!/bin/bash
# Builds the fuzz targets with a sanitizer, and puts them into a folder with their seeds and their dictionary,
# as OSS-Fuzz and ClusterFuzzLite want them. It runs in their containers, and outside as well:
#
#     SRC=FOLDER OUT=FOLDER RUSTUP_TOOLCHAIN=nightly bash fuzz/oss-fuzz/build.sh
#
# SRC        holds the checkout, under the name `assay`; a link will do
# OUT        gets TARGET, TARGET_seed_corpus.zip, TARGET.dict and TARGET.options of each target
# WORK       keeps what is compiled [default: $SRC/work]
# SANITIZER  address, none, or coverage, whose flags are in RUSTFLAGS [default: address]
#
# CFLAGS and CXXFLAGS are for the only C++ code in the build, libFuzzer. `memory` would need a standard library
# that is built with it, and `undefined` is not there for Rust: both are refused.
set -euo pipefail

: "${SRC:?names the folder that holds the checkout as assay}"
: "${OUT:?names the folder for what is built}"
work=${WORK:-$SRC/work}

case ${SANITIZER:=address} in
address | none) sanitizer=$SANITIZER ;;
coverage) sanitizer=none ;;
*)
    echo "build.sh: SANITIZER=$SANITIZER is not supported: address, none and coverage are" >&2
    exit 2
    ;;
esac
for tool in cargo-fuzz zip; do
    command -v $tool >/dev/null || { echo "build.sh: $tool is needed, and not in PATH" >&2; exit 2; }
done

cd "$SRC/assay"
mkdir -p "$OUT" "$work"
# In a debug build whatever overflows is a panic; here too.
cargo fuzz build -O --debug-assertions --sanitizer "$sanitizer" --target-dir "$work/fuzz"
# Seeds are written by a program that is no target: the flags for targets are not for it.
env -u RUSTFLAGS cargo run --quiet --release --locked --target-dir "$work/prepare" \
    -p assay-fuzz --bin prepare -- --out "$work/seeds"

host=$(rustc -vV | sed -n 's/^host: //p')
for target in $(cargo fuzz list); do
    cp "$work/fuzz/$host/release/$target" "$OUT/"
    cp fuzz/gguf.dict "$OUT/$target.dict"
    cp fuzz/oss-fuzz/target.options "$OUT/$target.options"
    rm -f "$OUT/${target}_seed_corpus.zip"
    (cd "$work/seeds/$target" && zip -q -X -r "$OUT/${target}_seed_corpus.zip" .)
done
