package elf

import (
	"encoding/binary"
	"errors"
	"flag"
	"math/rand"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/abi"
	"sonde/linux/space"
)

var corruptions = flag.Int("corruptions", 10000, "how many corrupt files TestCorruptFiles tries")

// What is wrong with a program is said, and nothing is left of it.
func TestRefused(t *testing.T) {
	le := binary.LittleEndian
	for name, c := range map[string]struct {
		edit func(p *program)
		poke func(b []byte)
		says string
	}{
		"magic":             {poke: func(b []byte) { b[1] = 'e' }, says: "not an ELF"},
		"32 bits":           {poke: func(b []byte) { b[4] = 1 }, says: "64 bits"},
		"big-endian":        {poke: func(b []byte) { b[5] = 2 }, says: "little-endian"},
		"another processor": {poke: func(b []byte) { b[18] = 183 }, says: "machine 183"},
		"a core file":       {edit: func(p *program) { p.kind = 4 }, says: "type 4"},
		"header size":       {poke: func(b []byte) { b[54] = 32 }, says: "32 bytes"},
		"no segments":       {edit: func(p *program) { p.segments = nil }, says: "0 program headers"},
		"many segments":     {poke: func(b []byte) { le.PutUint16(b[56:], 0xffff) }, says: "65535"},
		"headers beyond":    {poke: func(b []byte) { le.PutUint64(b[32:], 1<<63) }, says: "beyond the file's end"},
		"headers wrap":      {poke: func(b []byte) { le.PutUint64(b[32:], ^uint64(0)-50) }, says: "beyond the file's end"},
		"nothing to load":   {edit: func(p *program) { p.segments = []segment{{Type: 9}} }, says: "nothing to load"},
		"file larger":       {edit: func(p *program) { p.segments[0].FileSize++ }, says: "in the file"},
		"beyond the end":    {edit: func(p *program) { p.segments[1].Offset = 1<<63 - 0x800 }, says: "beyond the file's end"},
		"address wraps":     {edit: func(p *program) { p.segments[1].VAddr = ^uint64(0)&^0xfff | 0x800 }, says: "too large"},
		"memory wraps":      {edit: func(p *program) { p.segments[1].MemSize = ^uint64(0) - 8 }, says: "too large"},
		"within a page":     {edit: func(p *program) { p.segments[1].VAddr++ }, says: "within a page"},
		"alignment":         {edit: func(p *program) { p.segments[1].Align = 3 << 12 }, says: "alignment"},
		"huge alignment":    {edit: func(p *program) { p.segments[1].Align = 1 << 62 }, says: "alignment"},
		"overlap":           {edit: func(p *program) { p.segments[1].VAddr = text + 0x800 }, says: "overlaps"},
		"out of order":      {edit: func(p *program) { p.segments[1].VAddr = 0x100800 }, says: "below it"},
		"shares a page":     {edit: func(p *program) { p.segments[1].VAddr = text + 0x1800; p.segments[0].FileSize-- }, says: "share the page"},
		"zeroes share a page": {edit: func(p *program) {
			p.segments[1] = segment{Type: abi.PT_LOAD, Flags: 6, Offset: 0x1900, VAddr: text + 0x1900, MemSize: 0x100}
		}, says: "share the page"},
		"entry":              {edit: func(p *program) { p.entry = text + 0x3900 }, says: "entry"},
		"entry nowhere":      {edit: func(p *program) { p.entry = 0 }, says: "entry"},
		"at the kernel":      {edit: func(p *program) { move(p, 1<<47-text) }, says: "too large"},
		"data at the kernel": {edit: func(p *program) { p.segments[1].VAddr = 0xffffffff84000800 }, says: "too large"},
		"over the kernel":    {edit: func(p *program) { p.segments[1].MemSize = 1<<47 - 4096 - p.segments[1].VAddr + 1 }, says: "programs are from 0x10000"},
		"page zero":          {edit: func(p *program) { move(p, ^uint64(text)+1) }, says: "programs are from 0x10000"},
		"two interpreters": {edit: func(p *program) {
			p.interp = "/x"
			p.segments = append(p.segments, segment{Type: abi.PT_INTERP, Offset: 0xf00, FileSize: 3})
		}, says: "two interpreters"},
		"endless interpreter":  {edit: func(p *program) { p.segments[0] = segment{Type: abi.PT_INTERP, Offset: 0x100, FileSize: 20} }, says: "not one string"},
		"nameless interpreter": {edit: func(p *program) { p.segments[0] = segment{Type: abi.PT_INTERP, Offset: 0x100, FileSize: 1} }, says: "1 bytes"},
		"long interpreter":     {edit: func(p *program) { p.segments[0] = segment{Type: abi.PT_INTERP, Offset: 0, FileSize: 1 << 40} }, says: "name has"},
	} {
		p := usual()
		if c.edit != nil {
			c.edit(&p)
		}
		b := p.build()
		if c.poke != nil {
			c.poke(b)
		}
		m := newMachine()
		m.add("/a", b)
		s, _, err := m.start(t, "/a")
		if !errors.Is(err, syscall.ENOEXEC) || !strings.Contains(err.Error(), c.says) || !strings.HasPrefix(err.Error(), "/a: ") {
			t.Errorf("%s: %v, want ENOEXEC with %q", name, err, c.says)
		}
		m.end(t, s)
	}
}

// move changes all addresses by d.
func move(p *program, d uint64) {
	p.entry += d
	for i := range p.segments {
		p.segments[i].VAddr += d
	}
}

func TestTooLarge(t *testing.T) {
	m := newMachine()
	g := pie()
	g.segments[1].MemSize = 1 << 46
	m.add("/a", g.build())
	s, _, err := m.start(t, "/a")
	if !errors.Is(err, syscall.ENOMEM) {
		t.Error(err)
	}
	m.end(t, s)
}

// A file that is shorter than it said.
func TestShortFile(t *testing.T) {
	whole := usual().build()
	m := newMachine()
	for n := 0; n < 0x2100; n += 1 + n/300*13 { // up to the last byte of the data
		m.add("/a", whole[:n])
		s, _, err := m.start(t, "/a")
		if !errors.Is(err, syscall.ENOEXEC) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		m.end(t, s)
	}
}

// corruptOne changes some bytes of the headers, as chance or malice would.
func corruptOne(rnd *rand.Rand, b []byte) {
	le := binary.LittleEndian
	nasty := []uint64{0, 1, 7, 0xfff, 0x1000, 1 << 20, 64 << 20, 128<<20 - 1, 1<<31 - 1, 1 << 32, 3 << 30, 768 << 30, 1<<47 - 4096, 1 << 47, 1 << 63, ^uint64(0), ^uint64(0) - 0xfff}
	end := headerSize + 3*segmentSize
	for range 1 + rnd.Intn(4) {
		at := rnd.Intn(end)
		switch rnd.Intn(4) {
		case 0:
			b[at] = byte(rnd.Int())
		case 1:
			b[at] ^= 1 << rnd.Intn(8)
		case 2:
			le.PutUint64(b[at&^7:], nasty[rnd.Intn(len(nasty))])
		case 3:
			from := rnd.Intn(end)
			copy(b[at&^7:end], b[from&^7:from&^7+8])
		}
	}
}

// Corrupt files are refused or loaded, and whatever is loaded lies where programs may be
// and goes without a trace; no number in them makes the kernel do anything else.
func TestCorruptFiles(t *testing.T) {
	m := newMachine()
	m.add("/lib/ld.so", pie().build())
	kinds := []program{usual(), pie(), pie()}
	kinds[2].interp = "/lib/ld.so"
	loaded := 0
	for seed := range int64(*corruptions) {
		rnd := rand.New(rand.NewSource(seed))
		victim := "/a"
		b := kinds[rnd.Intn(3)].build()
		if rnd.Intn(8) == 0 {
			m.add("/a", kinds[2].build())
			victim = "/lib/ld.so"
		}
		corruptOne(rnd, b)
		if rnd.Intn(10) == 0 {
			b = b[:rnd.Intn(len(b))]
		}
		kept := m.files["/lib/ld.so"]
		m.add(victim, b)
		s, p, err := m.start(t, "/a", "a")
		var errno syscall.Errno
		switch {
		case err == nil:
			loaded++
			checkLoaded(t, m, s, p, seed)
		case !errors.As(err, &errno):
			t.Fatalf("seed %d: %v has no errno", seed, err)
		}
		m.end(t, s)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
		for _, f := range m.files {
			f.close()
		}
		m.files["/lib/ld.so"] = kept
	}
	if loaded < *corruptions/100 || loaded > *corruptions*9/10 {
		t.Errorf("%d of %d are loaded: the corruptions are too bad, or too good", loaded, *corruptions)
	}
}

// checkLoaded touches a page of each area.
func checkLoaded(t *testing.T, m *fakeMachine, s *space.Space, p Program, seed int64) {
	for _, a := range s.Areas() {
		if !s.Allows(a.Start, a.End) {
			t.Fatalf("seed %d: %v is not for programs", seed, a)
		}
		if err := s.Fault(a.Start, space.Read); err != nil && a.Prot != 0 {
			t.Fatalf("seed %d: %v: %v", seed, a, err)
		}
	}
	if err := s.Fault(p.IP, space.Exec); err != nil {
		t.Fatalf("seed %d: entry %#x: %v", seed, p.IP, err)
	}
}
