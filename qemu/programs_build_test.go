package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"sonde/qemu/initrd"
)

// programs is a folder with programs and scripts, bin and scripts, and an archive
// that has them in the same places of the kernel's tree, and Debian's programs.
type programs struct{ dir, archive string }

// programsDir is the folder, for TestMain to remove.
var programsDir string

// debian are dynamic programs that are where Debian has them, by name in the kernel.
var debian = map[string]string{
	"/bin/sh": "/usr/bin/dash", "/usr/bin/dash": "", "/usr/bin/bash": "", "/usr/bin/gawk": "",
	"/usr/bin/grep": "", "/usr/bin/diff": "", "/usr/bin/xargs": "", "/usr/bin/python3": "",
}

// coreutils are the programs of that package which the scripts call.
const coreutils = "base64 basename cat chmod cksum cp cut date dd df echo env expr fold head ln ls md5sum mkdir mktemp mv nl od " +
	"paste readlink rm rmdir seq sha1sum sha256sum sleep sort split stat tac tail tee timeout touch tr truncate uniq wc yes"

// placed are where the program of that name is linked.
var placed = []string{"0x4000000", "0x40000000", "0x640000000000"}

// modules prints the files of Python's modules that the scripts import. Those of
// Debian's own start are not needed.
const modules = `import sys, os, site, errno, fcntl, hashlib, json, mmap, re, select, signal, struct, subprocess, tempfile, threading
for m in list(sys.modules.values()):
    for f in getattr(m, "__file__", None), getattr(m, "__cached__", None):
        if f and os.path.exists(f): print(f)`

var testPrograms = sync.OnceValues(func() (p programs, err error) {
	if p.dir, err = os.MkdirTemp("", "sonde-programs"); err != nil {
		return p, err
	}
	programsDir = p.dir
	a := initrd.Archive{Deps: true}
	for _, step := range []func(*initrd.Archive) error{p.build, p.addScripts, addDebian, addPython} {
		if err := step(&a); err != nil {
			return p, err
		}
	}
	p.archive = filepath.Join(p.dir, "archive.cpio")
	f, err := os.Create(p.archive)
	if err != nil {
		return p, err
	}
	defer f.Close()
	_, err = a.WriteTo(f)
	return p, err
})

// build compiles static and dynamic programs, and takes Debian's static busybox.
func (p programs) build(a *initrd.Archive) error {
	bin := filepath.Join(p.dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		return err
	}
	for _, name := range []string{
		"fdcalls", "watchfiles", "ptys",
		"state", "bound", "far", "answers", "traps",
		"hello", "threads", "signals", "calls", "sockets", "inet", "files", "badmemory", "advice", "random", "greedy", "corrupt", "dynamic", "dumps", "probed", "probed-pie",
		"refusals", "vdso", "vdso-pie", "avx",
	} {
		source, isPIE := strings.CutSuffix(name, "-pie")
		args := []string{"-O1", "-pthread", "-w", "-fcf-protection=none", "-U_FORTIFY_SOURCE", "-o", filepath.Join(bin, name), "testdata/programs/" + source + ".c"}
		if name != "dynamic" && !isPIE {
			args = append(args, "-static")
		}
		if name == "avx" {
			args = append(args, "-mavx")
		}
		if err := command("gcc", args...); err != nil {
			return err
		}
	}
	for _, at := range placed {
		if err := command("gcc", "-O1", "-w", "-static", "-nostdlib", "-no-pie", "-fno-stack-protector", "-mcmodel=large", "-Wl,--build-id=none",
			"-Wl,-Ttext-segment="+at, "-o", filepath.Join(bin, "placed-"+at), "testdata/programs/placed.c"); err != nil {
			return err
		}
	}
	if _, err := exec.LookPath("g++"); err == nil { // without it, what needs throws is skipped
		if err := command("g++", "-O2", "-pthread", "-w", "-static", "-o", filepath.Join(bin, "throws"), "testdata/programs/throws.cc"); err != nil {
			return err
		}
	}
	if err := command("go", "build", "-o", filepath.Join(bin, "gothreads"), "testdata/programs/gothreads/main.go"); err != nil {
		return err
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return fmt.Errorf("%w: run make setup", err)
	}
	if err := os.Symlink(busybox, filepath.Join(bin, "busybox")); err != nil {
		return err
	}
	names, err := os.ReadDir(bin)
	if err != nil {
		return err
	}
	for _, n := range names {
		if err := a.Add(filepath.Join(bin, n.Name()) + ":/bin/" + n.Name()); err != nil {
			return err
		}
	}
	return a.Add("/lib/x86_64-linux-gnu/libm.so.6") // for dlopen
}

// addScripts puts scripts beside the programs.
func (p programs) addScripts(a *initrd.Archive) error {
	if err := os.CopyFS(filepath.Join(p.dir, "scripts"), os.DirFS("testdata/programs/scripts")); err != nil {
		return err
	}
	return a.Add(filepath.Join(p.dir, "scripts") + ":/scripts")
}

// addDebian takes Debian's dynamic programs from the host, and who its users are.
func addDebian(a *initrd.Archive) error {
	files := map[string]string{"/etc/passwd": "", "/etc/group": "", "/etc/nsswitch.conf": ""}
	for guest, host := range debian {
		files[guest] = host
	}
	for name := range strings.FieldsSeq(coreutils) {
		files["/usr/bin/"+name] = ""
	}
	for guest, host := range files {
		if host == "" {
			host = guest
		}
		if err := a.Add(host + ":" + guest); err != nil {
			return fmt.Errorf("%w: run make setup", err)
		}
	}
	return nil
}

// addPython takes the modules that the scripts import, compiled and as text.
func addPython(a *initrd.Archive) error {
	out, err := exec.Command("/usr/bin/python3", "-c", modules).Output()
	if err != nil {
		return err
	}
	for file := range strings.FieldsSeq(string(out)) {
		if err := a.Add(file); err != nil {
			return err
		}
	}
	return nil
}

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	return nil
}

func buildPrograms(t *testing.T) programs {
	t.Helper()
	p, err := testPrograms()
	if err != nil {
		t.Fatal(err)
	}
	return p
}
