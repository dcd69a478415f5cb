//go:build tamago

package hostile

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/mm"
	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/sysctl"
	"sonde/uprobes"
)

// A stage is what all scenes have in common.
type stage struct {
	t       *suites.T
	names   []string // of symbols
	symbols []kallsyms.Symbol
	black   map[uint64]string
	files   []string // control files, and others that the kernel makes
	sysctls map[string]string
	modules []*module.Module
	program *proc.Process // one that waits, nil if there can be none
}

// A scene is one goroutine's part.
type scene struct {
	*stage
	*source
}

// waiting is a program that waits for ever: pause, again and again.
var waiting = []byte{0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7}

const programPath = "/hostile"

func newStage(t *suites.T) *stage {
	st := &stage{t: t, black: kprobes.Blacklisted(), sysctls: map[string]string{}}
	for _, m := range module.Available() {
		if strings.HasSuffix(m.Name, "_example") { // others are cases' own, and break rules
			st.modules = append(st.modules, m)
		}
	}
	for s := range kallsyms.Kernel().Named("") {
		st.symbols = append(st.symbols, s)
		if len(st.symbols)%7 == 0 {
			st.names = append(st.names, s.Name)
		}
	}
	for _, dir := range []string{"/sys", "/proc/sys", "/proc"} {
		st.walk(dir, dir != "/proc")
	}
	for _, k := range sysctl.All() {
		if _, fixed := k.(*sysctl.Fact); fixed {
			continue
		}
		st.sysctls[k.Name()] = k.String()
	}
	if suites.Programs != nil {
		suites.WriteProgram(t, programPath, waiting)
		st.program = suites.StartProgram(t, programPath, nil)
	}
	return st
}

// walk lists the files under dir, those of directories in it too if deep.
func (st *stage) walk(dir string, deep bool) {
	entries, err := vfs.ReadDir(dir)
	st.t.Must(err)
	for _, e := range entries {
		switch name := path.Join(dir, e.Name()); {
		case e.Type()&fs.ModeSymlink != 0:
		case !e.IsDir():
			st.files = append(st.files, name)
		case deep:
			st.walk(name, true)
		}
	}
}

// restore takes back what was accepted and is meant to stay: recordings that a file began, which wait for their hit;
// events that a 1 has enabled in the tracing files; and sysctls.
func (st *stage) restore() {
	const glass = "/sys/kernel/debug/glass"
	recordings, err := vfs.ReadDir(glass)
	st.t.Must(err)
	for _, one := range recordings {
		if name := one.Name(); name != "new" {
			st.t.Must(vfs.WriteFile(glass+"/new", []byte("-"+name)))
		}
	}
	for _, name := range []string{"events/enable", "options/event-fork"} {
		st.t.Must(vfs.WriteFile("/sys/kernel/tracing/"+name, []byte("0")))
	}
	kprobes.SetEnabled(true)
	uprobes.SetEnabled(true)
	for name, v := range st.sysctls {
		st.t.Must(sysctl.Set(name, v))
	}
}

func (st *stage) end() {
	st.restore()
	if st.program != nil {
		st.program.Kill(9)
		suites.WaitProgram(st.t, st.program)
		vfs.Remove(programPath)
	}
}

// symbol returns any symbol.
func (s *scene) symbol() kallsyms.Symbol { return s.symbols[s.IntN(len(s.symbols))] }

// addr is any address: in a symbol, most often, or at an edge of something.
func (s *scene) addr() uintptr {
	switch s.IntN(8) {
	case 0:
		return uintptr(s.number())
	case 1:
		r := pick(s.source, mm.Text, mm.ROData, mm.Data, mm.Heap, mm.Slots, mm.Symbols)
		return pick(s.source, r.Start, r.End, r.Start+(r.End-r.Start)/2) + uintptr(s.IntN(32)) - 16
	case 2:
		return suites.ProgramAt + uintptr(s.IntN(64)) - 8
	}
	sym := s.symbol()
	return uintptr(sym.Addr) + uintptr(s.Uint64N(min(sym.Size, 64)+2))
}

// pid is the waiting program's, or any number.
func (s *scene) pid() int {
	if s.program != nil && !s.in(4) {
		return s.program.PID
	}
	return int(s.number())
}

// file is the path of a program, of another file, or of none.
func (s *scene) file() string {
	switch s.IntN(4) {
	case 0:
		return programPath
	case 1:
		return s.files[s.IntN(len(s.files))]
	case 2:
		return pick(s.source, "", "/", "/bin/busybox", "/bin/hello", "/lib/libc.so.6", "/dev/null", "/proc/self/exe", "hostile", programPath+"/x")
	}
	return "/" + s.name()
}

// boundary reports whether an instruction begins at addr, in a function that may be probed.
func (s *scene) boundary(addr uintptr) bool {
	fn, ok := kallsyms.Kernel().At(uint64(addr))
	return ok && fn.IsText() && s.black[fn.Addr] == "" && slices.Contains(begins(fn), addr)
}

// sysctlName is the name of a sysctl, spelt in one way or another.
func (s *scene) sysctlName() string {
	all := sysctl.All()
	name := all[s.IntN(len(all))].Name()
	switch s.IntN(8) {
	case 0:
		return s.name()
	case 1:
		return strings.ReplaceAll(name, ".", "/")
	case 2:
		return strings.ReplaceAll(name, "-", "_") + s.text(2)
	}
	return name
}
