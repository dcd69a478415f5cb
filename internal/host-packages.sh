#!/bin/sh
# Checks that there is Go, and installs the Debian or Ubuntu packages that a target of the Makefile needs
# besides and that are missing. Usage: host-packages.sh run|stick|gdb|test|browser|bochs
#   run    QEMU boots the kernel
#   gdb    and gdb looks at it
#   stick  GRUB, xorriso and mtools make the stick
#   test   all of these; binutils has objdump, with which the tests compare our instruction decoder;
#          cpio reads the archives that we write; gcc, busybox, gawk and python3 are for programs that
#          run on the host and in the kernel; ovmf is the UEFI on which the stick is tested; with
#          tmux the tests use the prompt as people do; bpftrace and bpftool run in the kernel as they are
#   browser  Chromium, or one like it, which shows pages: their tests are skipped without it
#   bochs  another emulator, with a display that nobody sees, and the stick: its tests are skipped without it
set -eu

missing=
need() { # PACKAGES... unless the check before it succeeded
	missing="$missing $*"
}

# Go 1.21 is the first that fetches a newer Go by itself; older ones fail with a riddle. The module's
# go.mod does not matter in /.
need_go() {
	have=$(cd / && GOTOOLCHAIN=local go version 2>/dev/null) || have=
	case "$have" in
	*" go1."[0-9].* | *" go1.1"[0-9]* | *" go1.20"*) have="This is too old: $have." ;;
	"") have="Go is missing." ;;
	*) return ;;
	esac
	echo "$have Please install Go 1.21 or later: https://go.dev/dl" >&2
	exit 1
}

for_run() {
	command -v qemu-system-x86_64 >/dev/null || need qemu-system-x86
}

for_gdb() {
	for_run
	command -v gdb >/dev/null || need gdb
}

for_stick() {
	command -v grub-mkrescue >/dev/null || need grub-common
	[ -d /usr/lib/grub/i386-pc ] || need grub-pc-bin
	[ -d /usr/lib/grub/x86_64-efi ] || need grub-efi-amd64-bin
	command -v xorriso >/dev/null || need xorriso
	command -v mformat >/dev/null || need mtools
}

for_test() {
	for_gdb
	for_stick
	command -v objdump >/dev/null || need binutils
	command -v gcc >/dev/null && [ -e /usr/lib/x86_64-linux-gnu/libc.a ] || need gcc libc6-dev
	command -v busybox >/dev/null || need busybox-static
	command -v gawk >/dev/null || need gawk
	[ -x /usr/bin/python3 ] || need python3
	command -v cpio >/dev/null || need cpio
	[ -e /usr/share/OVMF/OVMF_CODE.fd ] || [ -e /usr/share/OVMF/OVMF_CODE_4M.fd ] || need ovmf
	command -v tmux >/dev/null || need tmux
	command -v zbarimg >/dev/null || need zbar-tools
	command -v bpftrace >/dev/null || need bpftrace
	# Ubuntu has it with the tools of its kernel, for that kernel alone: its tests are skipped there.
	[ -x /usr/sbin/bpftool ] || grep -q ubuntu /etc/os-release || need bpftool
}

for_browser() {
	command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || need chromium
}

for_bochs() {
	for_stick
	command -v bochs >/dev/null || need bochs bochs-x
	[ -e /usr/share/bochs/BIOS-bochs-latest ] || need bochsbios vgabios
	command -v xvfb-run >/dev/null || need xvfb
}

case "${1-}" in
run | gdb | stick | test | browser | bochs)
	need_go
	"for_$1"
	;;
*)
	echo "usage: $0 run|gdb|stick|test|browser|bochs" >&2
	exit 2
	;;
esac
if [ -z "$missing" ]; then
	exit 0
fi

install="install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null; then
	echo "Please install what these Debian packages have:$missing" >&2
	exit 1
fi
as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root=sudo
	[ -t 0 ] || as_root="sudo -n" # nobody is there to type a password
	if ! command -v sudo >/dev/null; then
		echo "Missing packages. Please run as root: apt-get $install" >&2
		exit 1
	elif ! $as_root true; then
		echo "Missing packages. Please run: sudo apt-get $install" >&2
		exit 1
	fi
fi

# What apt says is for people only if it fails.
apt() { # ARGUMENTS...
	said=$($as_root env DEBIAN_FRONTEND=noninteractive apt-get "$@" </dev/null 2>&1)
}

echo "Installing, which may take some minutes:$missing"
# The package lists may be old or not there at all: then fetch them once.
# shellcheck disable=SC2086 # a list of words
apt $install || { apt update && apt $install; } || {
	echo "$said" >&2
	echo "The packages could not be installed. Please run: ${as_root:+sudo }apt-get $install" >&2
	exit 1
}
