package core

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/abi"
	"sonde/kernel/mm/backing"
	"sonde/linux/space"
)

// file is what was written, and where holes are.
type file struct {
	b     []byte
	pages int // that were written
	full  int64
}

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if f.full != 0 && off+int64(len(p)) > f.full {
		return 0, syscall.ENOSPC
	}
	if n := int(off) + len(p); n > len(f.b) {
		f.b = append(f.b, make([]byte, n-len(f.b))...)
	}
	f.pages++
	return copy(f.b[off:], p), nil
}

// sample is a process with two threads and four areas. The first has pages 0, 2 and 3, of which 3 is zeroes.
func sample() *Dump {
	memory := map[uint64]byte{0x10000: 1, 0x12000: 3, 0x13000: 0, 0x20000: 0x7f, 0x40000: 9}
	d := &Dump{
		Signal: abi.Siginfo{Signo: abi.SIGABRT, Code: abi.SI_TKILL}, PID: 7, Parent: 3, Group: 5, Session: 4, Nice: 2,
		Name: "prog", Args: "prog -x " + strings.Repeat("y", 100), Auxv: make([]byte, 48),
		Threads: []Thread{
			{TID: 8, Regs: amd64.Regs{IP: 0x401234, SP: 0x7000, AX: 11, R15: 15, CS: 0x33}, Call: 234, FS: 0x5000, FP: make([]byte, abi.XSize), Blocked: 6, Used: [4]time.Duration{2500 * time.Millisecond}},
			{TID: 7, Regs: amd64.Regs{IP: 0x405678}, FP: make([]byte, abi.FPSize)},
		},
		Areas: []space.Dumped{
			{Area: space.Area{Start: 0x10000, End: 0x18000, Prot: space.Read | space.Write}, Size: 0x8000},
			{Area: space.Area{Start: 0x20000, End: 0x23000, Prot: space.Read | space.Exec, Ident: backing.Ident{Name: "/bin/prog", Inode: 5}}, Size: 0x1000},
			{Area: space.Area{Start: 0x30000, End: 0x31000, Prot: space.Read, Offset: 0x3000, Ident: backing.Ident{Name: "/bin/prog", Inode: 5}}},
			{Area: space.Area{Start: 0x40000, End: 0x41000}, Size: 0x1000},
		},
	}
	d.Page = func(to *[page]byte, addr, end uint64) (uint64, bool) {
		for ; addr < end; addr += page {
			if b, ok := memory[addr]; ok {
				*to = [page]byte{b}
				return addr, true
			}
		}
		return 0, false
	}
	return d
}

func written(t *testing.T, d *Dump) *file {
	t.Helper()
	f := &file{}
	size, err := d.Write(f, 1<<40)
	if err != nil {
		t.Fatal(err)
	}
	f.b = append(f.b, make([]byte, max(0, int(size)-len(f.b)))...)
	if int(size) != len(f.b) {
		t.Fatalf("size %d of %d", size, len(f.b))
	}
	return f
}

// TestMemoryIsThere: each area has a segment with its address, rights and bytes; pages that are zeroes or not in
// memory are not written.
func TestMemoryIsThere(t *testing.T) {
	d := sample()
	f := written(t, d)
	if f.pages != 1+4 {
		t.Errorf("%d writes", f.pages)
	}
	e, err := elf.NewFile(bytes.NewReader(f.b))
	if err != nil {
		t.Fatal(err)
	}
	if e.Type != elf.ET_CORE || e.Machine != elf.EM_X86_64 || len(e.Progs) != 5 {
		t.Fatalf("%v, %d segments", e.FileHeader, len(e.Progs))
	}
	flags := []elf.ProgFlag{elf.PF_R | elf.PF_W, elf.PF_R | elf.PF_X, elf.PF_R, 0}
	for i, p := range e.Progs[1:] {
		a := d.Areas[i]
		if p.Type != elf.PT_LOAD || p.Vaddr != a.Start || p.Memsz != a.End-a.Start || p.Filesz != a.Size || p.Flags != flags[i] || p.Off%page != 0 {
			t.Errorf("segment %d: %+v", i, p.ProgHeader)
		}
		got, _ := io.ReadAll(p.Open())
		want := make([]byte, a.Size)
		for addr := a.Start; addr < a.Start+a.Size; addr += page {
			var b [page]byte
			if at, ok := d.Page(&b, addr, addr+page); ok && at == addr {
				copy(want[addr-a.Start:], b[:])
			}
		}
		if !bytes.Equal(got, want) {
			t.Errorf("segment %d has other bytes", i)
		}
	}
}

// notesOf reads the notes of a file: "NAME KIND" of each, and what it says.
func notesOf(t *testing.T, b []byte) (kinds []string, all [][]byte) {
	t.Helper()
	e, err := elf.NewFile(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	n, err := io.ReadAll(e.Progs[0].Open())
	if err != nil || e.Progs[0].Type != elf.PT_NOTE {
		t.Fatal(err, e.Progs[0].Type)
	}
	word := binary.LittleEndian.Uint32
	for len(n) > 0 {
		name, desc := word(n), word(n[4:])
		kinds = append(kinds, fmt.Sprintf("%s %#x", n[12:12+name-1], word(n[8:])))
		n = n[12+(name+3)&^3:]
		all = append(all, n[:desc])
		n = n[(desc+3)&^3:]
	}
	return kinds, all
}

// TestNotes: their kinds and order are Linux's; the words are where debuggers look for them.
func TestNotes(t *testing.T) {
	kinds, notes := notesOf(t, written(t, sample()).b)
	want := "CORE 0x1,CORE 0x3,CORE 0x53494749,CORE 0x6,CORE 0x46494c45,CORE 0x2,LINUX 0x202,CORE 0x1,CORE 0x2"
	if got := strings.Join(kinds, ","); got != want {
		t.Fatalf("notes %s", got)
	}
	for i, size := range map[int]int{0: 336, 1: 136, 2: 128, 3: 48, 5: 512, 6: abi.XSize, 7: 336, 8: 512} {
		if len(notes[i]) != size {
			t.Errorf("note %d has %d bytes, want %d", i, len(notes[i]), size)
		}
	}
	at := func(note, off int, want uint64) {
		t.Helper()
		if got := binary.LittleEndian.Uint64(notes[note][off:]); got != want {
			t.Errorf("note %d has %#x at %d, want %#x", note, got, off, want)
		}
	}
	const regs = 112
	at(0, 0, 0xfffffffa<<32|6) // signal, SI_TKILL
	at(0, 8, 6<<32)            // the signal again
	at(0, 24, 6)               // blocked
	at(0, 32, 3<<32|8)         // TID, parent
	at(0, 40, 4<<32|5)         // group, session
	at(0, 48, 2)               // user time
	at(0, 56, 500000)
	at(0, regs, 15) // R15
	at(0, regs+10*8, 11)
	at(0, regs+15*8, 234)
	at(0, regs+16*8, 0x401234)
	at(0, regs+17*8, 0x33)
	at(0, regs+19*8, 0x7000)
	at(0, regs+21*8, 0x5000)
	at(0, 328, 1) // there are floating-point registers
	at(7, 32, 3<<32|7)
	at(7, regs+16*8, 0x405678)
	at(1, 24, 3<<32|7) // PID, parent
	at(6, 464, abi.XCR0)
	if got := string(notes[1][40:]); !strings.HasPrefix(got, "prog\x00") || got[16:24] != "prog -x " || got[95] != 0 {
		t.Errorf("names %q", got)
	}
	files := notes[4]
	at(4, 0, 2)
	at(4, 8, page)
	at(4, 16, 0x20000)
	at(4, 48, 0x31000)
	at(4, 56, 3)
	if got := string(files[64:]); got != "/bin/prog\x00/bin/prog\x00" {
		t.Errorf("files %q", got)
	}
}

// TestLimit: no byte is at or beyond the limit, and none below it is missing.
func TestLimit(t *testing.T) {
	whole := written(t, sample()).b
	for _, limit := range []int64{1, 4096, 0x3001, int64(len(whole)) - 1, int64(len(whole)), 1 << 40} {
		f := &file{}
		size, err := sample().Write(f, limit)
		if want := min(limit, int64(len(whole))); err != nil || size != want || int64(len(f.b)) > want {
			t.Errorf("limit %d: size %d, %d bytes, %v", limit, size, len(f.b), err)
		}
		if n := len(f.b); !bytes.Equal(f.b, whole[:n]) || bytes.Count(whole[n:max(n, int(size))], []byte{0}) != max(0, int(size)-n) {
			t.Errorf("limit %d: other bytes", limit)
		}
	}
}

// TestFailures: an error of the file ends the writing, and too many areas are refused before it begins.
func TestFailures(t *testing.T) {
	f := &file{full: 0x2000}
	if _, err := sample().Write(f, 1<<40); !errors.Is(err, syscall.ENOSPC) || f.pages != 2 {
		t.Errorf("a full file: %v after %d writes", err, f.pages)
	}
	d := sample()
	d.Areas = make([]space.Dumped, mostAreas+1)
	if _, err := d.Write(&file{}, 1<<40); !errors.Is(err, syscall.E2BIG) {
		t.Errorf("many areas: %v", err)
	}
	d = sample()
	d.Areas[1].Ident.Name = strings.Repeat("x", mostFiles)
	if kinds, _ := notesOf(t, written(t, d).b); len(kinds) != 8 {
		t.Errorf("too long names: notes %q", kinds)
	}
}

// TestName: core(5), "Naming of core dump files".
func TestName(t *testing.T) {
	value := func(c byte) string { return map[byte]string{'p': "12", 'e': "a/b"}[c] }
	for pattern, want := range map[string]string{
		"core": "core", "/tmp/%e.%p": "/tmp/a!b.12", "%%p%": "%p", "%p%p": "1212", "x%y": "x", "": "",
	} {
		if got := Name(pattern, value); got != want {
			t.Errorf("%q: %q, want %q", pattern, got, want)
		}
	}
	for pattern, ok := range map[string]bool{"core": true, "": true, "|/bin/x": false, strings.Repeat("x", 127): true, strings.Repeat("x", 128): false} {
		if err := Check(pattern); (err == nil) != ok || err != nil && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
