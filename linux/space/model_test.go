package space

import (
	"sonde/kernel/mm/backing"

	"errors"
	"flag"
	"math/rand"
	"slices"
	"testing"
)

var rounds = flag.Int("rounds", 40, "how many programs TestAgainstAModel plays")

// The model of a space is a map from page numbers to contents. The content of a page is one number:
// the test uses only the first byte.
type modelPage struct {
	prot   Prot
	shared bool
	file   *modelFile // nil: zeroes
	page   uint64     // in file
	own    bool       // a private copy, with the content value
	value  byte
}

type modelFile struct {
	values map[uint64]byte
	size   uint64
}

func (p modelPage) read() byte {
	if p.own || p.file == nil {
		return p.value
	}
	return p.file.values[p.page]
}

type modelSpace map[uint64]modelPage

// verdict is the expected result of an access.
func (m modelSpace) verdict(addr uint64, want Prot) error {
	p, ok := m[addr/PageSize]
	switch {
	case !ok:
		return ErrNotMapped
	case p.prot == 0, (p.prot|Read)&want != want:
		return ErrAccess
	case p.file != nil && !p.own && p.page >= p.file.size:
		return backing.ErrBus
	}
	return nil
}

func (m modelSpace) write(addr uint64, v byte) {
	p := m[addr/PageSize]
	if p.shared {
		p.file.values[p.page] = v
		return
	}
	p.own, p.value = true, v
	m[addr/PageSize] = p
}

// player simulates one program and its children.
type player struct {
	*testing.T
	rnd    *rand.Rand
	m      *fakeMachine
	spaces []*Space
	models []modelSpace
	files  []*fakeFile
	known  []*modelFile
	oom    int
}

// bases are addresses where areas, tables and windows meet.
var bases = []uint64{64 << 10, 2<<20 - 8*PageSize, 64<<20 - 16*PageSize, 128 << 20, 1<<30 - 8*PageSize, 1<<40 + 512<<30 - 8*PageSize, 0x7fff_ffff_f000 - 16*PageSize}

func (p *player) place() uint64 {
	return bases[p.rnd.Intn(len(bases))] + uint64(p.rnd.Intn(16))*PageSize
}

func (p *player) length() uint64 { return uint64(1+p.rnd.Intn(8)) * PageSize }

// failed reports that an operation was refused for lack of frames, the only allowed reason.
func (p *player) failed(what string, err error) bool {
	if errors.Is(err, ErrNoMemory) {
		p.oom++
		return true
	}
	if err != nil {
		p.Fatalf("%s: %v", what, err)
	}
	return false
}

func (p *player) mapOne(s *Space, model modelSpace) {
	addr, n, prot := p.place(), p.length(), Prot(p.rnd.Intn(8))
	if p.rnd.Intn(3) == 0 {
		prot = Read | Write
	}
	flags, what := Fixed, modelPage{prot: prot}
	var b backing.Store
	off := uint64(0)
	switch k := p.rnd.Intn(8); {
	case k < len(p.files):
		b, what.file = p.files[k], p.known[k]
		off = uint64(p.rnd.Intn(6)) * PageSize
	case k == 7:
		what.file = &modelFile{map[uint64]byte{}, unlimited}
	}
	if what.file != nil && (b == nil || p.rnd.Intn(2) == 0) {
		flags |= Shared
		what.shared = true
	}
	fits := s.m.has(addr, addr+n)
	got, err := s.Map(addr, n, prot, flags, b, off)
	if !fits {
		if err == nil {
			p.Fatalf("Map at %#x, %d: mapped what is not for programs", addr, n)
		}
		return
	}
	if p.failed("Map", err) || got != addr {
		p.Fatalf("Map at %#x: %#x, %v", addr, got, err)
	}
	for i := uint64(0); i < n; i += PageSize {
		what.page = (off + i) / PageSize
		model[(addr+i)/PageSize] = what
	}
}

func (p *player) unmap(s *Space, model modelSpace) {
	addr, n := p.place(), p.length()
	if addr+n > 0x7fff_ffff_f000 {
		return
	}
	p.failed("Unmap", s.Unmap(addr, n))
	for i := uint64(0); i < n; i += PageSize {
		delete(model, (addr+i)/PageSize)
	}
}

// all reports whether all pages are mapped.
func (m modelSpace) all(addr, n uint64) bool {
	for i := uint64(0); i < n; i += PageSize {
		if _, ok := m[(addr+i)/PageSize]; !ok {
			return false
		}
	}
	return true
}

func (p *player) protect(s *Space, model modelSpace) {
	addr, n, prot := p.place(), p.length(), Prot(p.rnd.Intn(8))
	err := s.Protect(addr, n, prot)
	if !model.all(addr, n) {
		if err == nil {
			p.Fatalf("Protect of %#x, %d, with a hole in it", addr, n)
		}
		return
	}
	p.failed("Protect", err)
	for i := uint64(0); i < n; i += PageSize {
		what := model[(addr+i)/PageSize]
		what.prot = prot
		model[(addr+i)/PageSize] = what
	}
}

func (p *player) discard(s *Space, model modelSpace) {
	addr, n := p.place(), p.length()
	if addr+n > 0x7fff_ffff_f000 {
		return
	}
	if err := s.Discard(addr, n); (err == nil) != model.all(addr, n) {
		p.Fatalf("Discard of %#x, %d: %v", addr, n, err)
	}
	for i := uint64(0); i < n; i += PageSize {
		if what, ok := model[(addr+i)/PageSize]; ok {
			what.own, what.value = false, 0
			model[(addr+i)/PageSize] = what
		}
	}
}

// one reports whether the pages belong to one area.
func (m modelSpace) one(s *Space, addr, n uint64) bool {
	a, ok := s.At(addr)
	return ok && addr+n <= a.End
}

func (p *player) remap(s *Space, model modelSpace) {
	addr, old, n, to := p.place(), p.length(), p.length(), p.place()
	if !model.one(s, addr, old) || !s.m.has(to, to+n) || to < addr+old && addr < to+n {
		return
	}
	got, err := s.Remap(addr, old, n, MoveTo, to)
	if p.failed("Remap", err) {
		return
	}
	if got != to {
		p.Fatalf("Remap to %#x moved to %#x", to, got)
	}
	var moved []modelPage
	first := model[addr/PageSize]
	for i := range n / PageSize {
		what := modelPage{prot: first.prot, shared: first.shared, file: first.file, page: first.page + i}
		if i < old/PageSize {
			what = model[addr/PageSize+i]
		}
		moved = append(moved, what)
	}
	for i := range old / PageSize {
		delete(model, addr/PageSize+i)
	}
	for i, what := range moved {
		model[to/PageSize+uint64(i)] = what
	}
}

func (p *player) touch(s *Space, model modelSpace) {
	addr, want, v := p.place(), []Prot{Read, Write, Exec}[p.rnd.Intn(3)], byte(p.rnd.Int())
	verdict := model.verdict(addr, want)
	if p.rnd.Intn(2) == 0 && want != Exec {
		p.copied(s, model, addr, want, v, verdict)
		return
	}
	at, err := p.m.access(s, addr, want)
	if errors.Is(err, ErrNoMemory) {
		p.oom++
		return
	}
	if !errors.Is(err, verdict) {
		p.Fatalf("access %d to %#x: %v, want %v", want, addr, err, verdict)
	}
	if err != nil {
		return
	}
	if got := *at; got != model[addr/PageSize].read() {
		p.Fatalf("%#x holds %#x, want %#x", addr, got, model[addr/PageSize].read())
	}
	if want == Write {
		*at = v
		model.write(addr, v)
	}
}

// copied is touch by the kernel, with CopyIn and CopyOut.
func (p *player) copied(s *Space, model modelSpace, addr uint64, want Prot, v byte, verdict error) {
	b := []byte{v}
	n, err := 0, error(nil)
	if want == Write {
		n, err = s.CopyOut(addr, b)
	} else {
		n, err = s.CopyIn(b, addr)
	}
	switch {
	case errors.Is(err, ErrNoMemory):
		p.oom++
	case !errors.Is(err, verdict) || (n == 1) != (err == nil):
		p.Fatalf("copy %d at %#x: %d, %v, want %v", want, addr, n, err, verdict)
	case err == nil && want == Write:
		model.write(addr, v)
	case err == nil && b[0] != model[addr/PageSize].read():
		p.Fatalf("CopyIn of %#x: %#x, want %#x", addr, b[0], model[addr/PageSize].read())
	}
}

func (p *player) fork(i int) {
	child, err := p.spaces[i].Fork()
	if p.failed("Fork", err) {
		return
	}
	copied := modelSpace{}
	for page, what := range p.models[i] {
		copied[page] = what
	}
	p.spaces, p.models = append(p.spaces, child), append(p.models, copied)
}

func (p *player) exit(i int) {
	p.spaces[i].Release()
	p.spaces = slices.Delete(p.spaces, i, i+1)
	p.models = slices.Delete(p.models, i, i+1)
}

// agree compares the areas, and checks that there are no more than necessary.
func (p *player) agree(s *Space, model modelSpace) {
	pages, last := 0, Area{}
	for _, a := range s.Areas() {
		if a.Start < last.End || a.Start >= a.End {
			p.Fatalf("areas out of order: %v, %v", last, a)
		}
		for addr := a.Start; addr < a.End; addr += PageSize {
			what, ok := model[addr/PageSize]
			if !ok || what.prot != a.Prot || what.shared != a.Shared || what.file != nil && what.page*PageSize != a.Offset+addr-a.Start {
				p.Fatalf("%#x: %+v, want %+v %v", addr, a, what, ok)
			}
			pages++
		}
		last = a
	}
	if pages != len(model) || s.Usage().Total != uint64(pages)*PageSize {
		p.Fatalf("%d pages, %+v, want %d", pages, s.Usage(), len(model))
	}
	runs := 0
	for page, what := range model {
		if before, ok := model[page-1]; !ok || !before.continues(what) {
			runs++
		}
	}
	if runs != len(s.Areas()) {
		p.Fatalf("%d areas, want %d: %v", len(s.Areas()), runs, s.Areas())
	}
}

// continues reports whether the page after p may belong to the same area.
func (p modelPage) continues(q modelPage) bool {
	return p.prot == q.prot && p.shared == q.shared && p.file == q.file && (p.file == nil || p.page+1 == q.page)
}

func (p *player) step() {
	i := p.rnd.Intn(len(p.spaces))
	s, model := p.spaces[i], p.models[i]
	switch k := p.rnd.Intn(100); {
	case k < 15:
		p.mapOne(s, model)
	case k < 22:
		p.unmap(s, model)
	case k < 32:
		p.protect(s, model)
	case k < 36:
		p.discard(s, model)
	case k < 42:
		p.remap(s, model)
	case k < 44 && len(p.spaces) < 6:
		p.fork(i)
	case k < 46 && len(p.spaces) > 1:
		p.exit(i)
	default:
		p.touch(s, model)
		return
	}
	if i < len(p.spaces) && p.spaces[i] == s {
		p.agree(s, model)
	}
}

// Random programs use a Space through a fake processor with a TLB, and each access must end as the
// model says; some of them run on a machine with little memory. At the end no frame is left.
func TestAgainstAModel(t *testing.T) {
	for seed := range int64(*rounds) {
		limit := uint64(0)
		if seed%4 == 3 {
			limit = 2 << 20
		}
		m := newMachine(t, limit)
		p := &player{T: t, rnd: rand.New(rand.NewSource(seed)), m: m}
		for range 3 {
			p.files = append(p.files, m.file(8))
			known := &modelFile{map[uint64]byte{}, 8}
			for i := range uint64(8) {
				known.values[i] = byte(i) ^ 0x80
			}
			p.known = append(p.known, known)
		}
		p.spaces, p.models = []*Space{m.space()}, []modelSpace{{}}
		for range 4000 {
			p.step()
		}
		for len(p.spaces) > 0 {
			p.exit(0)
		}
		for _, f := range p.files {
			if f.holds != 0 {
				t.Fatalf("seed %d: a file is held %d times", seed, f.holds)
			}
			f.close()
		}
		m.empty()
	}
}
