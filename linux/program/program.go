// Package program reads what a program's file says about its code: which functions there
// are and where, where their instructions begin, and where they return. It reads ELF files,
// and does not depend on the machine.
//
// Names come from .symtab and .dynsym, of stripped programs from the file that their build-id
// or .gnu_debuglink names, and in Go programs from pclntab, which stays when a program is stripped. .eh_frame also gives where functions begin and end, without their
// names.
//
// Addresses are those in the file; where a program runs, its bias is added to them (see
// Bias). Offsets are in the file.
//
// Files are not trusted. What is wrong in one gives errors, or missing functions.
package program

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
	"sync"
	"syscall"

	"sonde/kallsyms/pcln"
	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
	"sonde/linux/program/cfi"
)

// Symbol is a function.
type Symbol struct {
	Name       string // "" if only its place is known
	Addr, Size uint64
	Indirect   bool // its code returns which function is meant (IFUNC)
	Go         bool // pclntab knows it

	global bool
}

// End returns the address after s.
func (s Symbol) End() uint64 { return s.Addr + s.Size }

// rank orders the names of one place: the greatest is what it is called.
func (s Symbol) rank() (n int) {
	if s.global {
		n += 2
	}
	if _, older := cutVersion(s.Name); !older {
		n++
	}
	return n
}

// File is a program, or a library.
type File struct {
	elf    *object
	funcs  []Symbol         // by address, then by name; several may have one address
	names  map[string][]int // places in funcs
	older  map[string][]int // of older versions, by the name without it
	frames *cfi.Table
	gotab  *pcln.Table             // Go's; nil if there is none
	plain  func() map[string][]int // places in funcs by names of C++ and Rust as in the source
	split  string                  // the path of the file with its symbol table and its DWARF; "": it has its own, or none

	mu   sync.Mutex
	last *function // guarded by mu: the one whose instructions were asked for last
}

// Open reads what is known of the functions of the program r, which is kept.
//
// Errors: ENOEXEC r is no ELF file for this machine.
func Open(r io.ReaderAt) (*File, error) {
	o, err := readObject(r)
	if err != nil {
		return nil, notProgram(err)
	}
	f := &File{elf: o}
	f.readAll()
	return f, nil
}

func notProgram(err error) error { return refusal.New(syscall.ENOEXEC, "%v", err) }

func (f *File) readAll() {
	f.readFrames()
	f.readGo()
	f.index(f.readSymbols())
}

// Read calls f with what is known of the program at a path, and returns its result.
//
// Errors: those of opening the file; ENOEXEC as Open.
func Read(path string, f func(*File) error) error {
	file, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return err
	}
	defer vfs.Close(file)
	p, err := OpenFile(file)
	if err != nil {
		return refusal.New(syscall.ENOEXEC, "%s: not a program: %v", path, err)
	}
	return f(p)
}

// readFrames reads .eh_frame. Without one, or if it is wrong, there is less to know.
func (f *File) readFrames() {
	s := f.elf.section(".eh_frame")
	if data := f.elf.data(s); data != nil {
		f.frames, _ = cfi.Parse(data, s.addr)
	}
}

// readSymbols adds the functions of both symbol tables. Functions of Go are known already; linked has those
// to which the linker gives another name, as main.add.abi0.
func (f *File) readSymbols() (linked map[string]uint64) {
	goAt := map[uint64]string{}
	for _, s := range f.funcs {
		goAt[s.Addr] = s.Name
	}
	linked = map[string]uint64{}
	add := func(s symbol, version string) {
		if s.kind != symFunc && s.kind != symIndirect || s.section == symUndefined {
			return
		}
		if name, known := goAt[s.value]; known {
			if name != s.name {
				linked[s.name] = s.value
			}
			return
		}
		name, _, _ := strings.Cut(s.name, "@@") // write@@GLIBC_2.2.5; realpath@GLIBC_2.2.5 is an older version
		f.funcs = append(f.funcs, Symbol{Name: name + version, Addr: s.value, Size: s.size, Indirect: s.kind == symIndirect, global: !s.local})
	}
	for _, s := range f.elf.symbols(secSymbols) {
		add(s, "")
	}
	if f.split != "" {
		withObject(f.split, func(o *object) bool {
			for _, s := range o.symbols(secSymbols) {
				add(s, "")
			}
			return true
		})
	}
	version := f.elf.versions()
	for i, s := range f.elf.symbols(secDynamic) {
		add(s, version(i))
	}
	f.tellApart(linked)
	return linked
}

// tellApart gives a function of Go the name that the linker has for it, if another one has the same in Go: it leads
// from one calling convention to the other, and a call that comes by it is one of both.
func (f *File) tellApart(linked map[string]uint64) {
	of, at := map[string]int{}, map[uint64]*Symbol{}
	for i := range f.funcs {
		if s := &f.funcs[i]; s.Go {
			of[s.Name]++
			at[s.Addr] = s
		}
	}
	for name, addr := range linked {
		if s := at[addr]; of[s.Name] > 1 && strings.HasPrefix(name, s.Name+".") {
			of[s.Name]--
			s.Name = name
		}
	}
}

// index sorts the functions and gives those a size that have none. A name that only the linker gives does not
// make a second function.
func (f *File) index(linked map[string]uint64) {
	sort.Slice(f.funcs, func(i, j int) bool {
		a, b := &f.funcs[i], &f.funcs[j]
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.Name, b.Name), cmp.Compare(b.Size, a.Size)) < 0
	})
	f.funcs = slices.CompactFunc(f.funcs, func(a, b Symbol) bool { return a.Addr == b.Addr && a.Name == b.Name })
	f.names, f.older, f.plain = map[string][]int{}, map[string][]int{}, sync.OnceValue(f.readPlain)
	for i := range f.funcs {
		name := f.funcs[i].Name
		f.names[name] = append(f.names[name], i)
		if base, older := cutVersion(name); older {
			f.older[base] = append(f.older[base], i)
		}
	}
	for name, addr := range linked {
		if len(f.names[name]) == 0 {
			i, _ := slices.BinarySearchFunc(f.funcs, addr, func(s Symbol, addr uint64) int { return cmp.Compare(s.Addr, addr) })
			f.names[name] = []int{i}
		}
	}
	next := ^uint64(0) // where the next function begins
	for i := len(f.funcs) - 1; i >= 0; i-- {
		s := &f.funcs[i]
		if i+1 < len(f.funcs) && f.funcs[i+1].Addr != s.Addr {
			next = f.funcs[i+1].Addr
		}
		if s.Size == 0 {
			s.Size = f.sizeOf(s.Addr, next)
		}
	}
	f.cutInner()
}

// near is how far to look back for a function that another lies in: such ones are rare, and short.
const near = 16

// cutInner has a symbol in the middle of a function end with it: an assembler gives a symbol that is set to a place in
// a function the size of all of it. What .eh_frame knows as a function keeps its size.
func (f *File) cutInner() {
	for i := range f.funcs {
		s := &f.funcs[i]
		if e, ok := f.frames.Find(s.Addr); s.Go || ok && e.Begin == s.Addr {
			continue
		}
		for _, outer := range f.funcs[max(0, i-near):i] {
			if outer.Addr < s.Addr && s.Addr < outer.End() {
				s.Size = min(s.Size, outer.End()-s.Addr)
			}
		}
	}
}

// sizeOf is the size of a function whose symbol, as in assembly, has none: to the end
// of what .eh_frame says of it, or to the next function, or the end of the section.
func (f *File) sizeOf(at, next uint64) uint64 {
	if e, ok := f.frames.Find(at); ok {
		return e.End - at
	}
	var end uint64
	for _, s := range f.elf.sections {
		if s.flags&secAlloc != 0 && at >= s.addr && at-s.addr < s.size {
			end = s.addr + s.size
		}
	}
	return max(min(end, next), at) - at
}

// ErrNoFunction says that nothing is known of a place.
var ErrNoFunction = errors.New("program: no function is known there")

// At returns the function that addr is in, and how far. Of several names it takes a
// global one, and that of no older version.
func (f *File) At(addr uint64) (s Symbol, off uint64, ok bool) {
	i, _ := slices.BinarySearchFunc(f.funcs, addr, func(s Symbol, addr uint64) int {
		if s.Addr <= addr {
			return -1
		}
		return 1
	})
	// Of those that begin before addr the last that reaches it is one of the nearest.
	for n := i - 1; n >= 0 && n >= i-near; n-- {
		switch c := f.funcs[n]; {
		case ok && (c.Addr != s.Addr || s.rank() >= c.rank()):
		case addr < c.End():
			s, ok = c, true
		}
	}
	if e, has := f.frames.Find(addr); !ok && has {
		s, ok = Symbol{Addr: e.Begin, Size: e.End - e.Begin}, true
	}
	return s, addr - s.Addr, ok
}

// Functions returns all that have a name, by address.
//
// Context: goroutine. The caller changes nothing in it.
func (f *File) Functions() []Symbol { return f.funcs }

// String says where an address is, as "name+0x10".
func (f *File) String(addr uint64) string {
	s, off, ok := f.At(addr)
	if !ok || s.Name == "" {
		return fmt.Sprintf("%#x", addr)
	}
	return fmt.Sprintf("%s+%#x", s.Name, off)
}

// All returns one function for each place where there is one, also those of which nothing
// but the place is known, by address.
func (f *File) All() (all []Symbol) {
	for _, s := range f.funcs {
		if n := len(all); n == 0 || s.Addr >= all[n-1].End() {
			all = append(all, s)
		}
	}
	known := len(all)
	for e := range f.frames.All {
		i, _ := slices.BinarySearchFunc(all[:known], e.Begin, func(s Symbol, addr uint64) int {
			if s.End() <= addr {
				return -1
			}
			return 1
		})
		if i == known || all[i].Addr >= e.End {
			all = append(all, Symbol{Addr: e.Begin, Size: e.End - e.Begin})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Addr < all[j].Addr })
	return all
}
