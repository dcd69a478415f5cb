package main

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/base64"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// coreScript has a program abort, and prints its core file.
const coreScript = `bash -c 'cd /tmp; ulimit -c unlimited; dumps; echo status $?; echo core:; busybox gzip -c core | busybox base64; busybox rm core'
`

// debugCore has gdb read what coreScript has printed: the calls of both threads. Without gdb, it is at least an ELF file.
func debugCore(t *testing.T, program, out string) {
	t.Helper()
	said, text, found := strings.Cut(out, "core:\n")
	if !found || !strings.Contains(said, "Aborted") || !strings.Contains(said, "(core dumped)") || !strings.Contains(said, "status 134") {
		t.Errorf("no core file: %q", end([]byte(out), 500))
		return
	}
	zipped, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		t.Error(err)
		return
	}
	core, err := io.ReadAll(zipped)
	if err != nil {
		t.Error(err)
		return
	}
	if e, err := elf.NewFile(bytes.NewReader(core)); err != nil || e.Type != elf.ET_CORE {
		t.Errorf("not a core file: %v", err)
	}
	if _, err := exec.LookPath("gdb"); err != nil {
		return
	}
	name := filepath.Join(t.TempDir(), "core")
	if err := os.WriteFile(name, core, 0o600); err != nil {
		t.Error(err)
	}
	calls, err := exec.Command("gdb", "-nx", "-batch", "-ex", "thread apply all bt", program, name).CombinedOutput()
	for _, want := range []string{`terminated with signal SIGABRT`, `(?s)abort.*\bin innermost .*\bin outer .*\bin main `, `\bin waits `} {
		if !regexp.MustCompile(want).Match(calls) {
			t.Errorf("gdb does not show %s: %v\n%s", want, err, calls)
		}
	}
}
