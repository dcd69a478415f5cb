package elf

import (
	"debug/elf"
	"os"
	"testing"
)

// Programs of the host are loaded as another reader of their files says.
func TestRealPrograms(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, path := range []string{self, "/bin/sh", "/bin/ls", "/usr/bin/python3", "/bin/busybox", "/sbin/ldconfig"} {
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		ref, err := elf.Open(path)
		if err != nil || ref.Machine != elf.EM_X86_64 {
			continue
		}
		defer ref.Close()
		tried++
		m := newMachine()
		m.add(path, content)
		for _, p := range ref.Progs {
			if p.Type == elf.PT_INTERP {
				name := make([]byte, p.Filesz-1)
				p.ReadAt(name, 0)
				if ld, err := os.ReadFile(string(name)); err == nil {
					m.add(string(name), ld)
				}
			}
		}
		s, p, err := m.start(t, path, path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		entry := readStack(t, s, p).auxv[atEntry]
		for _, g := range ref.Progs {
			if g.Type == elf.PT_LOAD {
				wantSegment(t, s, content, segment{Offset: g.Off, VAddr: g.Vaddr, FileSize: g.Filesz, MemSize: g.Memsz}, entry-ref.Entry)
			}
		}
		m.end(t, s)
		for _, f := range m.files {
			f.close()
		}
	}
	if tried == 0 {
		t.Error("not even this test is an ELF file")
	}
	t.Logf("%d programs", tried)
}
