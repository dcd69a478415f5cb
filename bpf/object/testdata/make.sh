#!/bin/sh
# Compiles the objects beside this script, by clang 14 or later: sh make.sh [CLANG]
# The tests read the objects that are checked in, and need no compiler.
set -e
cd "$(dirname "$0")"
clang=${1:-clang}
for f in *.c; do
	debug=-g
	[ "$f" = old.c ] && debug=-g0
	"$clang" -target bpf -mcpu=v3 -O2 $debug -Wall -Wno-unused-variable -fdebug-compilation-dir=. -c "$f" -o "${f%.c}.o"
done
for f in *.o; do
	llvm-strip -g "$f" # keeps .BTF and .BTF.ext
done
