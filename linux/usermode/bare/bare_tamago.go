//go:build tamago

// Package bare makes address spaces by hand, page by page, without areas and page faults,
// for code in ring 3 that is not a program. Tests and the crash command use it.
package bare

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/paging"
	"sonde/arch/amd64/user"
	"sonde/kernel/mm"
	"sonde/kernel/refusal"
	"sonde/linux/usermode"
)

// Page is a page of memory.
type Page [paging.PageSize]byte

// Space is an address space. Its pages are Go's memory, which does not move.
type Space struct {
	root       *table
	generation atomic.Uint64
	pages      []any // kept alive
}

type table [paging.PageSize / 8]uint64

// New returns a space with nothing in it but the kernel.
func New() (*Space, error) {
	s := new(Space)
	s.root, _ = s.table()
	mm.Tables.UpperHalf((*[512]uint64)(s.root))
	return s, nil
}

// table returns an empty table, and where it is.
func (s *Space) table() (*table, uint64) {
	t := new(table)
	s.pages = append(s.pages, t)
	return t, Phys(unsafe.Pointer(t))
}

// Phys returns the physical address of kernel memory at p.
func Phys(p unsafe.Pointer) uint64 {
	pa, _, ok := mm.Tables.Lookup(uint64(uintptr(p)))
	if !ok {
		panic(fmt.Sprintf("bare: %p is not mapped", p))
	}
	return pa
}

// Root is what CR3 is to be.
func (s *Space) Root() uint64 { return Phys(unsafe.Pointer(s.root)) }

// Map maps a new page at va with these PTE bits besides PTE_P and PTE_U.
//
// Errors: EINVAL va is the kernel's.
func (s *Space) Map(va, bits uint64) (*Page, error) {
	p := new(Page)
	return p, s.Put(va, p, bits)
}

// Put maps p at va, instead of what is there. CPUs in ring 3 learn of it by Changed.
//
// Errors: EINVAL va is the kernel's.
func (s *Space) Put(va uint64, p *Page, bits uint64) error {
	t := s.root
	for shift := 39; shift > 12; shift -= 9 {
		e := &t[va>>shift&511]
		if *e == 0 {
			_, pa := s.table()
			*e = pa | amd64.PTE_P | amd64.PTE_W | amd64.PTE_U
		}
		if t = s.at(*e); t == nil {
			return refusal.New(syscall.EINVAL, "bare: map %#x: this address belongs to the kernel", va)
		}
	}
	s.pages = append(s.pages, p)
	atomic.StoreUint64(&t[va>>12&511], Phys(unsafe.Pointer(p))|amd64.PTE_P|amd64.PTE_U|bits)
	return nil
}

// at returns the table of s that e leads to, nil if it is not s's.
func (s *Space) at(e uint64) *table {
	for _, p := range s.pages {
		if t, ok := p.(*table); ok && Phys(unsafe.Pointer(t)) == e&amd64.PTE_ADDR {
			return t
		}
	}
	return nil
}

// Changed returns when all CPUs use the mappings as they are.
func (s *Space) Changed() {
	s.generation.Add(1)
	usermode.Shootdown(s.Root())
}

// Thread returns a thread of s that begins at ip.
func (s *Space) Thread(ip uint64) *user.Context {
	c := user.New()
	c.Regs.IP = ip
	c.Use(s.Root(), &s.generation)
	return c
}

// Close makes all CPUs forget s. None of its threads may run.
func (s *Space) Close() { usermode.Retire(s.Root()) }
