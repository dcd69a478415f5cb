#!/bin/sh
# Installs the Debian packages that building and testing need besides Go:
# qemu-system-x86 boots the kernel, binutils has objdump, with which the tests
# compare our instruction decoder, cpio reads the archives that we write, gcc,
# busybox, gawk and python3 are for programs that run on the host and in the kernel;
# GRUB, xorriso and mtools make the stick, and ovmf is the UEFI on which it is tested; with gdb
# and tmux the tests look at the kernel and use its prompt as people do. Does nothing if all is there.
set -eu

missing=
command -v qemu-system-x86_64 >/dev/null || missing="$missing qemu-system-x86"
command -v objdump >/dev/null || missing="$missing binutils"
command -v gcc >/dev/null && [ -e /usr/lib/x86_64-linux-gnu/libc.a ] || missing="$missing gcc libc6-dev"
command -v busybox >/dev/null || missing="$missing busybox-static"
command -v gawk >/dev/null || missing="$missing gawk"
[ -x /usr/bin/python3 ] || missing="$missing python3"
command -v cpio >/dev/null || missing="$missing cpio"
command -v grub-mkrescue >/dev/null || missing="$missing grub-common"
[ -d /usr/lib/grub/i386-pc ] || missing="$missing grub-pc-bin"
[ -d /usr/lib/grub/x86_64-efi ] || missing="$missing grub-efi-amd64-bin"
command -v xorriso >/dev/null || missing="$missing xorriso"
command -v mformat >/dev/null || missing="$missing mtools"
[ -e /usr/share/OVMF/OVMF_CODE.fd ] || missing="$missing ovmf"
command -v gdb >/dev/null || missing="$missing gdb"
command -v tmux >/dev/null || missing="$missing tmux"
if [ -z "$missing" ]; then
	exit 0
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
	as_root="sudo -n"
fi
install="apt-get install -y --no-install-recommends$missing"
if ! command -v apt-get >/dev/null || { [ -n "$as_root" ] && ! sudo -n true 2>/dev/null; }; then
	echo "Missing packages; please run as root: $install" >&2
	exit 1
fi

echo "Installing:$missing"
DEBIAN_FRONTEND=noninteractive
export DEBIAN_FRONTEND
# The package lists may be old or not there at all: then fetch them once.
# shellcheck disable=SC2086 # both are lists of words
$as_root $install </dev/null || { $as_root apt-get update </dev/null && $as_root $install </dev/null; }
