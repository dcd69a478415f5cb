#!/bin/sh
# lab.sh begin N: copy the starter of lab N to lab/N, if that is not there; say what comes next.
# lab.sh reset N: put the starter back; what was there is kept in lab/N.saved-1, -2 ...
# lab.sh ask N: only show how lab/N differs from the starter.
set -eu
cd "$(dirname "$0")/.."
verb=$1 n=${2-}
from=course/labs/$n to=lab/$n
if [ -z "$n" ] || [ ! -f "$from/README.md" ]; then
	echo "say which lab, such as LAB=1; there are: $(ls course/labs | tr '\n' ' ')" >&2
	exit 2
fi
if [ "$verb" = ask ]; then
	diff -ru "$from/starter" "$to" && echo "$to is as the starter"
	exit 0
fi
if [ "$verb" = reset ] && [ -e "$to" ]; then
	i=1
	while [ -e "$to.saved-$i" ]; do i=$((i + 1)); done
	mv "$to" "$to.saved-$i"
	echo "what you had is in $to.saved-$i"
fi
if [ ! -e "$to" ]; then
	mkdir -p lab
	[ ! -d "$from/starter" ] || cp -r "$from/starter" "$to"
	[ ! -d "$to" ] || echo "copied the starter to $to"
fi
for name in $(sed -n 's/^PROGRAM //p' "$from/lab.txt" 2>/dev/null); do
	[ "$name" = "${first:=$name}" ] && strip= || strip='-s -w' # the second is the first without symbols
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build -ldflags="$strip" -o "build/$name" "./$from/$first"
done
# The task, without the marks that are for the pages.
sed -n '/^## How to work/q; /^```/,/^```/{/^```/d; s/^/    /;}; p' "$from/README.md"
echo "next: read course/labs/$n/introduction.md, edit $to, make grade LAB=$n"
