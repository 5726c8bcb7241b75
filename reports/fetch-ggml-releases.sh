#!/usr/bin/env bash
# Fetches the base library of many releases of ggml, oldest first, for `assay history`:
#
#     bash reports/fetch-ggml-releases.sh releases
#     cargo run --release -- history --ggml releases/* --markdown reports/ggml-history.md
#
# They come from the packages @node-llama-cpp/linux-x64, which hold ggml as prebuilt by others from a
# known build of llama.cpp; each is checked against the hash below. Nothing of a package is run here.
# Needs npm, tar and sha256sum, and Linux on x86-64 to load the libraries. About 170 MB are downloaded,
# 25 MB kept; a release that is there already is left alone.
set -euo pipefail

directory=${1:?usage: fetch-ggml-releases.sh DIRECTORY}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# VERSION of the package, BUILD of llama.cpp that it says it was made from, SHA-256 of the package.
releases() {
    cat <<'LIST'
3.3.0 b4234 78db1a5efaf68f7364b553c5c88ebd939cd50174d4e1d5299b60e16dc323e216
3.3.1 b4291 8aea49d00e36f364f9938af8f342c59ecbbe761152ddeb4fffabd911cda4f6b0
3.4.0 b4435 e1712e20a99b79bc942e0d52c75c668821cc535670043c815d801792d7bf7471
3.4.1 b4529 d8aa40bce294f1df7bb853b37d33714d02b61cf7a48306c4c0a83fa2ad0e33ef
3.5.0 b4600 009f91fbd07299edcf3658536c5b3a2ee9094fd396904241e9b815f02282eb10
3.6.0 b4753 a0b520ae0ca97facb19c63e2634e983f319acd82085a90bd21055cfa71847fd4
3.7.0 b4980 ffb12816b29a9821fc08cbac508f35c7dbefe8a96a9eb41aaaf77e0a74e31605
3.9.0 b5590 297e41ad8a5244ce98f3b876cce508d7c1018460e3af814e48ece0b76dbcc07b
3.10.0 b5640 edc4ecc8c2ce3cdd27ae5ae66ef3590a6e92dc170af67547dd81c5670575f421
3.12.0 b6122 c31d14ae950f14c3bd9eb88a24bc83b34043f514e6ff2407b73c32f14d2ce3aa
3.12.1 b6133 3e93642125a53201cccba92230f2ca6116dfba59d56062cab052bc7f055027e2
3.12.4 b6301 c1f7f6f7e6a7edee1288d2547145575eb79c1c534b4e68170a3582962775e8d6
3.13.0 b6431 a877cdaacda7e2663d57258ef1355204bc060fd441fddd58f54f42f5251fe3de
3.14.0 b6673 e377394fa5151e5234e1339a1ea19bb83e3c2ba413d65a320f1fbc5a4ff4f20e
3.14.2 b6845 84303360c8c76a91755f8bb8191918c15e9c4bcef6b8dcda8b48d721b616d9f4
3.14.4 b7324 6f29ee4a630d7bcb6328865418ebc26ee6f02ee0e084ae00a38e05657f58d04b
3.14.5 b7347 a504a0e872271766572ea426fc94d1d230ce453af433522a2fe78d80e4aed944
3.15.0 b7698 6bbe84c55b9d0c3ca27c613774434120006941b8a03e59206df484173ec28d13
3.15.1 b7836 047a6dcc278b6c0ee019be9450e1e4a5606da95a4cf86b40e7ab4b686ef4f8a1
3.16.0 b8095 35898bc27451ebebb0ccd45c1ee91e5df7d74040238eee5ed8ed60e2258210bb
3.16.2 b8121 1af355c655ee313a3d17a5de295e2155145c3e9538baf1d8e78380974ff7f8b2
3.17.1 b8179 1376a5ff4a8ca222eee9927152ecf6062080f0adbbe5408d5c78eac3e7b8c93d
3.18.0 b8352 b12600dda7debe4cf8274a468267d344d56738b655b7f6dc57cde6f6fd64488b
3.18.1 b8390 0b662aabf9794140ff71d2c34970662ac30f95cacaaa98e03b9967d21ea816d0
3.19.0 b9842 3ac24ba0c88b388e99c20d772309f1c1cc6c4e184e10f755c917fea95d8f5c7f
3.19.1 b10068 4704b1b5b9a762ec92385b99f44c6f20dba79ec9c40687a346e33a42610f1e3a
3.20.0 b10361 76dbb03706ff469dee148e835e22c536b76c7c2865ac8c26f90739dda58b2dd0
3.21.1 v0.4.0 4b5b65a8b2611d8af94349b02d815c0f424a30a0a19aef2be5db25ecfef6730f
3.22.1 v0.5.0 0d953e1503d5ab4608d8ed5b739132308c81ac05ffeb760d2a7f30e08a9f90e0
LIST
}

number=0
while read -r version build sha256; do
    number=$((number + 1))
    # Numbered, so that a pattern of the shell lists them oldest first.
    place=$(printf '%s/%02d-%s' "$directory" "$number" "$build")
    if [[ -f $place/release.json ]]; then
        continue
    fi
    package=@node-llama-cpp/linux-x64@$version
    printf 'fetching %s (%s)\n' "$package" "$build"
    (cd "$scratch" && npm pack --silent "$package" >/dev/null)
    tarball=$scratch/node-llama-cpp-linux-x64-$version.tgz
    printf '%s  %s\n' "$sha256" "$tarball" | sha256sum --check --quiet --strict - || {
        printf 'error: %s is not the package whose hash is known here\n' "$package" >&2
        exit 1
    }
    mkdir -p "$place"
    tar -xzf "$tarball" -C "$place" --strip-components=3 package/bins/linux-x64/libggml-base.so
    printf '{"release": "%s", "package": "%s"}\n' "$build" "$package" >"$place/release.json"
    rm "$tarball"
done < <(releases)
printf '%d releases in %s\n' "$number" "$directory"
