package elf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/space"
)

// maps returns the areas without the stack, one a line.
func maps(s *space.Space) string {
	var b strings.Builder
	for _, a := range s.Areas() {
		if a.Ident.Name != "[stack]" {
			fmt.Fprintf(&b, "%x-%x %d %s+%x\n", a.Start, a.End, a.Prot, a.Ident.Name, a.Offset)
		}
	}
	return b.String()
}

func wantMaps(t *testing.T, s *space.Space, want string) {
	t.Helper()
	if got := maps(s); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// wantBytes compares a mapped segment with the file, and what is after that with zeroes.
func wantSegment(t *testing.T, s *space.Space, f []byte, g segment, bias uint64) {
	t.Helper()
	got := make([]byte, g.MemSize)
	if n, err := s.CopyIn(got, g.VAddr+bias); err != nil {
		t.Fatalf("segment at %#x: %d bytes, %v", g.VAddr, n, err)
	}
	want := append(bytes.Clone(f[g.Offset:g.Offset+g.FileSize]), make([]byte, g.MemSize-g.FileSize)...)
	if !bytes.Equal(got, want) {
		t.Errorf("segment at %#x differs", g.VAddr)
	}
}

func TestStaticProgram(t *testing.T) {
	m := newMachine()
	f := m.add("/bin/a", usual().build())
	s, p, err := m.start(t, "/bin/a", "a")
	if err != nil {
		t.Fatal(err)
	}
	wantMaps(t, s, `400000-402000 5 fake+0
403000-405000 3 fake+1000
405000-407000 3 +0
`)
	for _, g := range usual().segments {
		wantSegment(t, s, f.content, g, 0)
	}
	if p.IP != text+0x200 || s.Brk(0) != text+0x7000 || p.CodeStart != text || p.CodeEnd != text+0x1800 {
		t.Errorf("%+v, heap at %#x", p, s.Brk(0))
	}
	if err := s.Fault(p.IP, space.Exec); err != nil {
		t.Error(err)
	}
	// The file's own page is not changed by the zeroes after the data.
	if !bytes.Equal(m.Frames.Bytes(f.pages[2])[:0x1000], f.content[0x2000:0x3000]) {
		t.Error("the page cache was written to")
	}
	m.end(t, s)
}

// A segment of zeroes that may not be written to, and whose file ends within a page.
func TestReadOnlyZeroes(t *testing.T) {
	m := newMachine()
	g := usual()
	g.segments[1].Flags = 4
	g.segments = append(g.segments, segment{Type: abi.PT_LOAD, Flags: 4, VAddr: text + 0x9000, MemSize: 0x2000})
	f := m.add("/a", g.build())
	s, _, err := m.start(t, "/a")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range g.segments {
		wantSegment(t, s, f.content, one, 0)
	}
	if err := s.Store32(text+0x4000, 1); !errors.Is(err, space.ErrAccess) {
		t.Error(err)
	}
	m.end(t, s)
}

// TestVDSO: its address is in the auxiliary vector, and what cannot be mapped ends the load.
func TestVDSO(t *testing.T) {
	m := newMachine()
	m.add("/a", pie().build())
	for _, refused := range []error{nil, space.ErrNoMemory} {
		s, err := m.New()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Load(s, m.files["/a"], "/a", Options{VDSO: func(*space.Space) (uint64, error) { return 0x7000, refused }})
		if !errors.Is(err, refused) {
			t.Error(err)
		}
		if err == nil && readStack(t, s, p).auxv[atSysinfo] != 0x7000 {
			t.Errorf("%x", p.Auxv)
		}
		m.end(t, s)
	}
}

func TestPIE(t *testing.T) {
	m := newMachine()
	f := m.add("/a", pie().build())
	s, p, err := m.start(t, "/a")
	if err != nil {
		t.Fatal(err)
	}
	wantMaps(t, s, `555555554000-555555556000 5 fake+0
555555557000-555555559000 3 fake+1000
555555559000-55555555b000 3 +0
`)
	for _, g := range pie().segments {
		wantSegment(t, s, f.content, g, pieBase)
	}
	if p.IP != pieBase+0x200 || s.Brk(0) != 0x55555555b000 {
		t.Errorf("%+v, heap at %#x", p, s.Brk(0))
	}
	m.end(t, s)
}

func TestAlignmentIsKept(t *testing.T) {
	m := newMachine()
	g := pie()
	g.segments[0].Align, g.segments[1].Align = 2<<20, 64<<10
	m.add("/a", g.build())
	s, p, err := m.start(t, "/a")
	if err != nil {
		t.Fatal(err)
	}
	if base := p.IP - 0x200; base%(2<<20) != 0 {
		t.Errorf("%#x", base)
	}
	if a := s.Areas(); len(a) != 4 { // and nothing is left of what was reserved
		t.Error(a)
	}
	m.end(t, s)
}

func TestInterpreter(t *testing.T) {
	m := newMachine()
	g := pie()
	g.interp = "/lib/ld.so"
	m.add("/a", g.build())
	m.add("/lib/ld.so", pie().build())
	s, p, err := m.start(t, "/a", "a", "b")
	if err != nil {
		t.Fatal(err)
	}
	st := readStack(t, s, p)
	base := st.auxv[atBase]
	if base == 0 || p.IP != base+0x200 || st.auxv[atEntry] != pieBase+0x200 || st.auxv[atPhnum] != 3 || st.auxv[atPhdr] != pieBase+headerSize {
		t.Errorf("IP %#x, %+v", p.IP, st.auxv)
	}
	if got, _ := s.At(base); got.Ident.Name != "fake" || got.Prot != space.Read|space.Exec {
		t.Errorf("%+v", got)
	}
	m.end(t, s)
}

func TestInterpreterRefused(t *testing.T) {
	for _, c := range []struct {
		name string
		ld   []byte
		err  syscall.Errno
	}{
		{"not there", nil, syscall.ENOENT},
		{"no program", []byte("what?"), syscall.ELIBBAD},
		{"wants one itself", func() []byte { g := pie(); g.interp = "/lib/ld.so"; return g.build() }(), syscall.ELIBBAD},
		{"a script", []byte("#!/a\n"), syscall.ELIBBAD},
	} {
		m := newMachine()
		g := pie()
		g.interp = "/lib/ld.so"
		m.add("/a", g.build())
		if c.ld != nil {
			m.add("/lib/ld.so", c.ld)
		}
		s, _, err := m.start(t, "/a")
		if !errors.Is(err, c.err) || !strings.Contains(err.Error(), "/a: interpreter /lib/ld.so") {
			t.Errorf("%s: %v", c.name, err)
		}
		m.end(t, s)
	}
}

type stack struct {
	args, env []string
	auxv      map[uint64]uint64
}

// readStack reads what a program would.
func readStack(t *testing.T, s *space.Space, p Program) (st stack) {
	t.Helper()
	at := p.SP
	word := func() uint64 {
		t.Helper()
		b := make([]byte, 8)
		if _, err := s.CopyIn(b, at); err != nil {
			t.Fatal(err)
		}
		at += 8
		return binary.LittleEndian.Uint64(b)
	}
	str := func(at uint64) string {
		t.Helper()
		v, err := s.CString(at, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if p.SP%16 != 0 {
		t.Errorf("SP is %#x", p.SP)
	}
	n := word()
	for range n {
		st.args = append(st.args, str(word()))
	}
	if w := word(); w != 0 {
		t.Fatalf("behind the arguments: %#x", w)
	}
	for w := word(); w != 0; w = word() {
		st.env = append(st.env, str(w))
	}
	st.auxv = map[uint64]uint64{}
	from := at
	for {
		k, v := word(), word()
		if k == atNull {
			break
		}
		st.auxv[k] = v
	}
	if got := make([]byte, at-from); true {
		s.CopyIn(got, from)
		if !bytes.Equal(got, p.Auxv) {
			t.Error("Auxv is not what is on the stack")
		}
	}
	return st
}

func TestStack(t *testing.T) {
	m := newMachine()
	m.add("/bin/a", usual().build())
	for n := range 5 { // an even and an odd number of words
		args := []string{"a", "", "x y", strings.Repeat("z", 70000)}[:n]
		s, p, err := m.start(t, "/bin/a", args...)
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			args = []string{""} // there is always one
		}
		st := readStack(t, s, p)
		if !slices.Equal(st.args, args) || !slices.Equal(st.env, []string{"HOME=/", "A="}) {
			t.Errorf("%q, %q", st.args, st.env)
		}
		want := map[uint64]uint64{atHWCap: 0xabc, atHWCap2: 2, atPagesz: 4096, atClockTck: 100, atPhdr: text + 64, atPhent: 56, atPhnum: 2, atEntry: text + 0x200}
		for k, v := range want {
			if st.auxv[k] != v {
				t.Errorf("auxv %d: %#x, want %#x", k, st.auxv[k], v)
			}
		}
		for k, want := range map[uint64]string{atExecfn: "/bin/a", atPlatform: "x86_64", atRandom: "\x01\x02"} {
			if got, err := s.CString(st.auxv[k], 100); got != want || err != nil {
				t.Errorf("auxv %d: %q, %v", k, got, err)
			}
		}
		cmdline := make([]byte, p.ArgEnd-p.ArgStart)
		s.CopyIn(cmdline, p.ArgStart)
		if want := strings.Join(append(args, ""), "\x00"); string(cmdline) != want {
			t.Errorf("cmdline %q, want %q", cmdline, want)
		}
		environ := make([]byte, p.EnvEnd-p.EnvStart)
		s.CopyIn(environ, p.EnvStart)
		if string(environ) != "HOME=/\x00A=\x00" {
			t.Errorf("environ %q", environ)
		}
		if err := s.Fault(p.SP-256<<10, space.Write); err != nil {
			t.Error("the stack does not grow:", err)
		}
		if err := s.Fault(p.SP, space.Exec); !errors.Is(err, space.ErrAccess) {
			t.Error("the stack is executable:", err)
		}
		m.end(t, s)
	}
}

func TestExecutableStack(t *testing.T) {
	m := newMachine()
	g := usual()
	g.segments = append(g.segments, segment{Type: abi.PT_GNU_STACK, Flags: 7})
	m.add("/a", g.build())
	s, p, err := m.start(t, "/a")
	if err != nil || s.Fault(p.SP, space.Exec) != nil {
		t.Error(err)
	}
	m.end(t, s)
}

func TestTooManyArguments(t *testing.T) {
	m := newMachine()
	m.add("/a", usual().build())
	long := strings.Repeat("x", 100<<10)
	for _, args := range [][]string{{strings.Repeat("x", 128<<10)}, slices.Repeat([]string{long}, 21), slices.Repeat([]string{""}, 300000)} {
		s, _, err := m.start(t, "/a", args...)
		if !errors.Is(err, syscall.E2BIG) {
			t.Errorf("%d arguments: %v", len(args), err)
		}
		m.end(t, s)
	}
	s, p, err := m.start(t, "/a", slices.Repeat([]string{long}, 19)...)
	if err != nil || len(readStack(t, s, p).args) != 19 {
		t.Error(err)
	}
	m.end(t, s)
}

func TestScripts(t *testing.T) {
	m := newMachine()
	m.add("/bin/sh", usual().build())
	m.add("/s1", []byte("#! \t/bin/sh  -e  x \nwhatever"))
	m.add("/s2", []byte("#!/s1"))
	m.add("/s3", []byte("#!/s2\n"))
	m.add("/s4", []byte("#!/s3 a\n"))
	m.add("/s5", []byte("#!/s4\n"))
	for path, want := range map[string][]string{
		"/s1": {"/bin/sh", "-e  x", "/s1", "one", "two"},
		"/s2": {"/bin/sh", "-e  x", "/s1", "/s2", "one", "two"},
		"/s4": {"/bin/sh", "-e  x", "/s1", "/s2", "/s3", "a", "/s4", "one", "two"},
	} {
		s, p, err := m.start(t, path, "argv0", "one", "two")
		if err != nil {
			t.Fatal(err)
		}
		st := readStack(t, s, p)
		if name, _ := s.CString(st.auxv[atExecfn], 99); !slices.Equal(st.args, want) || p.Path != "/bin/sh" || name != path {
			t.Errorf("%s: %q, %q, %q", path, st.args, p.Path, name)
		}
		m.end(t, s)
	}
	for path, c := range map[string]struct {
		text string
		err  syscall.Errno
	}{
		"/s5":    {"#!/s4\n", syscall.ELOOP},
		"/loop":  {"#!/loop\n", syscall.ELOOP},
		"/none":  {"#!/nowhere\n", syscall.ENOENT},
		"/cr":    {"#!/bin/sh\r\n", syscall.ENOENT},
		"/empty": {"#! \n", syscall.ENOEXEC},
		"/text":  {"echo\n", syscall.ENOEXEC},
		"/void":  {"", syscall.ENOEXEC},
		"/long":  {"#!/" + strings.Repeat("x", 300) + "\n", syscall.ENOEXEC},
		"/lang":  {"#!/bin/sh " + strings.Repeat("x", 300) + "\n", 0},
	} {
		m.add(path, []byte(c.text))
		s, _, err := m.start(t, path)
		if c.err == 0 && err != nil || c.err != 0 && !errors.Is(err, c.err) {
			t.Errorf("%s: %v, want %v", path, err, c.err)
		}
		m.end(t, s)
	}
}
