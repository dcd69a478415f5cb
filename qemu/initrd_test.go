package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/kernel/vfs/cpio"
	"sonde/qemu/machine"
)

// gzipped makes a file with a compressed archive that holds one file.
func gzipped(t *testing.T, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := cpio.NewWriter(z)
	w.Add(cpio.Entry{Name: name, Mode: cpio.Regular | 0o600, Data: []byte(text)})
	w.Close()
	z.Close()
	return file(t, "some, archive.gz", b.String())
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFilesOfTheHost: what -initrd and -add name is in the kernel's tree, on both
// machines, and nothing is left behind on the host.
func TestFilesOfTheHost(t *testing.T) {
	runsBeside(t)
	temp := t.TempDir()
	big := file(t, "big", strings.Repeat("0123456789abcdef", 1<<16)) // 1 MiB
	initrd := gzipped(t, "etc/one", "from an archive\n")
	for _, m := range []string{"q35", "microvm"} {
		cmd := launch(t, "-machine", m, "-initrd", initrd, "-add", "main.go:/src/", "-add", big+":/big",
			"-c", "cat /etc/one; head -1 /src/main.go; wc -c /big; echo changed > /etc/one; cat /etc/one; tail -1 /big | wc -c")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		out, err := cmd.Output()
		want := "from an archive\n// Command qemu builds the kernel, boots it in QEMU and reports how it ended.\n1048576 /big\nchanged\n1048576\n"
		if string(out) != want || err != nil {
			t.Errorf("%s: got %q, want %q; %v", m, out, want, err)
		}
	}
	if left, _ := os.ReadDir(temp); len(left) != 0 {
		t.Errorf("left in the folder for temporary files: %v", left)
	}
}

// TestCorruptArchiveIsReported: the kernel says what is wrong, and continues without it.
func TestCorruptArchiveIsReported(t *testing.T) {
	runsBeside(t)
	for text, says := range map[string]string{
		"070701garbage":          "initramfs: corrupt cpio archive: at byte 0: it ends within the header",
		strings.Repeat("x", 200): "initramfs: corrupt cpio archive: at byte 0: no entry begins here",
		"\x1f\x8b\x08 and then":  "initramfs: ",
	} {
		r := bootScript(t, normalImage, machine.Config{Initrd: file(t, "bad", text), Script: "ls -d /tmp"})
		if string(r.Stdout) != "/tmp\n" || !strings.Contains(string(r.Log), says) {
			t.Errorf("%q: no %q, or no shell:\n%s", text, says, said(r))
		}
	}
}
