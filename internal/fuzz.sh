#!/bin/sh
# Runs each fuzz target of the module for as long as $1 says (1m, 20s), those whose package or name
# fits the pattern $2 only, and goes on behind one that fails. What go test -list finds are all there are.
set -eu
cd "$(dirname "$0")/.."
time=${1:-1m} pattern=${2:-.}
list=$(go test -vet=off -list '^Fuzz' ./...)
echo "$list" | awk '/^Fuzz/ { name[n++] = $1 } /^ok/ { for (i = 0; i < n; i++) print $2, name[i]; n = 0 }' | grep -E "$pattern" | {
	failed=0 ran=0
	while read -r package name; do
		ran=1
		echo "$package $name"
		go test -vet=off -run '^$' -fuzz "^$name\$" -fuzztime "$time" -fuzzminimizetime 5s "$package" </dev/null || failed=1
	done
	[ $ran = 1 ] || { echo "no fuzz target fits ONLY=$pattern" >&2; exit 1; }
	exit $failed
}
