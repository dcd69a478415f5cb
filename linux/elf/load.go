package elf

import (
	"fmt"
	"io"
	"syscall"

	"sonde/kernel/mm/backing"
	"sonde/kernel/refusal"
	"sonde/linux/space"
)

// A File is what Load reads. Its content must be mappable.
type File interface {
	io.ReaderAt
	Size() int64
	Backing() (backing.Store, error)
}

// Options say how a program starts.
type Options struct {
	// Open opens an interpreter, and checks that it may be executed. Whoever calls Load
	// closes what was opened, when Load has returned: mappings hold the pages.
	Open      func(path string) (File, error)
	Args, Env []string
	Random    [16]byte // for the program's own use (AT_RANDOM)
	// HWCap and HWCap2 are the processor's features (AT_HWCAP, AT_HWCAP2).
	HWCap, HWCap2 uint64
	// VDSO maps the vDSO and returns its address (AT_SYSINFO_EHDR). nil: there is none.
	VDSO func(*space.Space) (uint64, error)
	// MaxStrings is how many bytes Args and Env may take, with their pointers. 0: 2 MiB.
	MaxStrings uint64
}

// A Program is ready to run.
type Program struct {
	IP, SP uint64
	File   File     // what is executed: of a script, its interpreter
	Path   string   // of File
	Args   []string // of a script, with those that its first line gives
	space.Layout

	vdso uint64 // its address, or 0
}

// maxScripts is how many interpreters may be scripts themselves, as in Linux.
const maxScripts = 4

// Load puts the program in f, whose path is given, into s, in which nothing is mapped
// yet. If it fails, s is good for Release alone.
//
// Errors: ENOEXEC (no program, or a corrupt one), ELIBBAD (the same of its
// interpreter), ELOOP (too many scripts), E2BIG (too many arguments), ENOMEM, EIO, and those of
// Open. All say what is wrong with which file.
func Load(s *space.Space, f File, path string, o Options) (Program, error) {
	p := Program{File: f, Path: path, Args: o.Args}
	if len(p.Args) == 0 {
		p.Args = []string{""} // as in Linux since 5.18: programs rely on a first argument
	}
	for depth := 0; ; depth++ {
		next, args, err := script(p.File)
		if err != nil {
			return p, fmt.Errorf("%s: %w", p.Path, err)
		}
		if next == "" {
			break
		}
		if depth == maxScripts {
			return p, refusal.New(syscall.ELOOP, "%s: the interpreters of scripts are scripts, %d deep", path, depth)
		}
		args = append(args, p.Path)
		if len(p.Args) > 1 {
			args = append(args, p.Args[1:]...)
		}
		if p.File, err = o.Open(next); err != nil {
			return p, fmt.Errorf("%s: interpreter %s: %w", p.Path, next, err)
		}
		p.Path, p.Args = next, args
	}
	h, err := readHeader(p.File)
	if err != nil {
		return p, fmt.Errorf("%s: %w", p.Path, err)
	}
	return p, p.load(s, h, path, o)
}

// load maps the program and its interpreter, and makes the stack.
func (p *Program) load(s *space.Space, h *header, execfn string, o Options) error {
	m, err := h.place(s, pieBase)
	if err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	s.SetHeap(m.end)
	p.CodeStart, p.CodeEnd = m.codeStart, m.codeEnd
	p.IP = m.entry
	base := uint64(0)
	if h.interp != "" {
		l, err := loadInterpreter(s, h.interp, o)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		p.IP, base = l.entry, l.bias
	}
	if o.VDSO != nil {
		if p.vdso, err = o.VDSO(s); err != nil {
			return fmt.Errorf("the vDSO: %w", err)
		}
	}
	return p.makeStack(s, h, m, base, execfn, o)
}

// loadInterpreter maps the dynamic linker.
func loadInterpreter(s *space.Space, path string, o Options) (mapped, error) {
	f, err := o.Open(path)
	if err != nil {
		return mapped{}, fmt.Errorf("interpreter %s: %w", path, err)
	}
	h, err := readHeader(f)
	if err == nil && h.interp != "" {
		err = refusal.New(syscall.ELIBBAD, "the interpreter asks for an interpreter itself")
	}
	if err != nil {
		// Whatever it is, it is the interpreter's fault.
		return mapped{}, refusal.New(syscall.ELIBBAD, "interpreter %s: %v", path, err)
	}
	m, err := h.place(s, 0)
	if err != nil {
		return mapped{}, fmt.Errorf("interpreter %s: %w", path, err)
	}
	return m, nil
}
