package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestContainerIsBuilt builds course/Containerfile, in the long run, since it downloads 300 MB: with podman or docker
// if one of them works, else by its commands in a folder that debootstrap makes. Then make run has what it needs.
func TestContainerIsBuilt(t *testing.T) {
	if !long() {
		t.Skip("in the long run only: it downloads 300 MB")
	}
	const needs = "go version && make --version && qemu-system-x86_64 --version && git --version && ls -d /sonde"
	for _, engine := range []string{"podman", "docker"} {
		if exec.Command(engine, "info").Run() == nil {
			succeeds(t, engine, "build", "-t", "sonde-test", "-f", "../course/Containerfile", "..")
			succeeds(t, engine, "run", "--rm", "sonde-test", "sh", "-c", needs)
			succeeds(t, engine, "rmi", "sonde-test")
			return
		}
	}
	if _, err := exec.LookPath("debootstrap"); err != nil || os.Getuid() != 0 {
		t.Skip("neither podman nor docker works, and there is no debootstrap, or no root to run it")
	}
	root := t.TempDir()
	for _, line := range instructions(document(t, "course/Containerfile")) {
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "FROM":
			if rest != "debian:12" {
				t.Fatalf("%s: the folder has Debian 12", line)
			}
			succeeds(t, "debootstrap", "--variant=minbase", "bookworm", root)
			proc := filepath.Join(root, "proc") // by which the go command finds its library
			succeeds(t, "mount", "-t", "proc", "proc", proc)
			t.Cleanup(func() { succeeds(t, "umount", "-l", proc) })
		case "RUN":
			succeeds(t, "chroot", root, "sh", "-c", rest)
		case "COPY":
			from, to, _ := strings.Cut(rest, " ")
			succeeds(t, "cp", filepath.Join("..", from), filepath.Join(root, to))
		case "WORKDIR":
			succeeds(t, "mkdir", "-p", filepath.Join(root, rest))
		case "CMD": // TestContainer
		default:
			t.Fatalf("no way to do %s", line)
		}
	}
	succeeds(t, "chroot", root, "sh", "-c", needs)
}

// instructions are those of a Containerfile, each in a line.
func instructions(text string) (list []string) {
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// succeeds runs a command that must succeed.
func succeeds(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	if name == "chroot" {
		cmd.Env = append(os.Environ(), "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=/tmp")
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(cmd.Args, " "), err, end(bytes.TrimSpace(out), 3000))
	}
}
