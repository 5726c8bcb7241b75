#!/bin/bash
# The build of OSS-Fuzz.
exec bash "$SRC/assay/fuzz/oss-fuzz/build.sh"
