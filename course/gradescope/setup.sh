#!/bin/sh
# setup.sh: Gradescope runs it once, as root, when it makes the image of an autograder. It installs Go and QEMU, and
# builds the kernel, so that students do not wait for that.
set -eu
cd "$(dirname "$0")"
command -v go >/dev/null || {
	apt-get update
	apt-get install -y --no-install-recommends ca-certificates golang-1.21-go || apt-get install -y --no-install-recommends ca-certificates golang-go
	[ -e /usr/bin/go ] || ln -s /usr/lib/go-1.21/bin/go /usr/bin/go
}
cd tree
./internal/host-packages.sh run
go build -o build/grader ./course/grade
go run ./qemu -build
