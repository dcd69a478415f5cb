//go:build tamago

// Package uprobes tests user probes on programs that the launcher has put into the kernel's
// tree. Most cases probe /bin/probed, whose functions are called a known number of times.
package uprobes

import (
	"bytes"
	"debug/elf"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
	"sonde/linux/space"
	"sonde/linux/syscall"
	"sonde/uprobes"
)

// program is a program of the kernel's tree with its symbols.
type program struct {
	path string
	file *elf.File
	syms map[string]elf.Symbol
}

// need reads a program, or skips the case.
func need(t *suites.T, path string) *program {
	t.NeedPrograms()
	b, err := vfs.Root.ReadFile(strings.TrimPrefix(path, "/"))
	if err != nil {
		t.Skipf("%s is not in the kernel's tree", path)
	}
	f, err := elf.NewFile(bytes.NewReader(b))
	t.Must(err)
	p := &program{path: path, file: f, syms: map[string]elf.Symbol{}}
	all, _ := f.Symbols()
	more, _ := f.DynamicSymbols()
	for _, s := range append(all, more...) {
		if s.Section != elf.SHN_UNDEF {
			p.syms[s.Name] = s
		}
	}
	return p
}

// addr is the address of a function in a process that runs p: a PIE is anywhere.
func (p *program) addr(t *suites.T, in *proc.Process, name string) uint64 {
	s, ok := p.syms[name]
	if !ok {
		t.Fatalf("%s has no %s", p.path, name)
	}
	if p.file.Type == elf.ET_EXEC {
		return s.Value
	}
	for _, a := range in.Memory().Areas() {
		if a.Prot&space.Exec != 0 && a.Ident.Name == p.path {
			for _, h := range p.file.Progs {
				if h.Type == elf.PT_LOAD && h.Flags&elf.PF_X != 0 {
					return a.Start - h.Vaddr&^(space.PageSize-1) + s.Value
				}
			}
		}
	}
	t.Fatalf("%s is not mapped", p.path)
	return 0
}

// run is a program that has been started.
type run struct {
	p   *proc.Process
	out *output
}

// start starts a program; ready is called before it runs.
func (p *program) start(t *suites.T, ready func(in *proc.Process), args ...string) *run {
	out := &output{}
	n := vfs.NewAnonymous(fs.ModeNamedPipe | 0600)
	files := []*vfs.File{nil, nil, nil}
	for i := range files {
		files[i] = vfs.NewFile(n.Name("test"), n, out, vfs.O_RDWR)
	}
	pr, err := syscall.Start(suites.Programs, syscall.Spec{
		Path: p.path, Args: append([]string{p.path}, args...), Env: []string{"PATH=/bin"}, Dir: "/", Files: files, Ready: ready,
	})
	t.Must(err)
	return &run{pr, out}
}

// wait returns what the program has printed, and checks how it ended.
func (r *run) wait(t *suites.T, want string) {
	select {
	case <-r.p.Done():
	case <-time.After(suites.Limit):
		r.p.Kill(9)
		t.Fatalf("the program does not end; it has printed %q", r.out)
	}
	suites.Programs.Init().Wait(proc.Which{Kind: 1, ID: r.p.PID}, 4, func() <-chan struct{} { return nil })
	if s := r.p.Status(); s != 0 {
		t.Errorf("exit %d, signal %d, printed %q", s.Code(), s.Signal(), r.out)
	}
	if got := r.out.String(); got != want {
		t.Errorf("it printed %q, want %q", got, want)
	}
}

// output is a file that keeps what is written to it.
type output struct {
	vfs.Stream
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) ReadAt([]byte, int64) (int, error) { return 0, nil }

func (o *output) WriteAt(p []byte, _ int64) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) Close() error { return nil }

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// inTrap is whether the probes of the present case have handlers that are trap-safe.
var inTrap bool

// both adds a case twice: with handlers in the goroutines of their threads, and in trap context.
func both(name string, f func(t *suites.T)) {
	suites.Add(name, f)
	suites.Add(name+"_in_trap", func(t *suites.T) {
		inTrap = true
		defer func() { inTrap = false }()
		f(t)
	})
}

// letters is what handlers write, in trap context, too.
type letters struct {
	all [256]byte
	n   atomic.Int32
}

func (l *letters) add(c byte) { l.all[uint8(l.n.Add(1)-1)] = c }

func (l *letters) String() string { return string(l.all[:min(int(l.n.Load()), len(l.all))]) }

// counter is a probe that counts.
type counter struct {
	uprobes.Uprobe
	n, trapped atomic.Int64
}

func newCounter() *counter {
	c := new(counter)
	c.TrapSafe = inTrap
	c.Handler = func(*uprobes.Uprobe, *amd64.Regs) {
		c.n.Add(1)
		if cpu.InHandler() {
			c.trapped.Add(1)
		}
	}
	return c
}

func (c *counter) hits() int { return int(c.n.Load()) }

// way checks that hits have been handled in trap context if they are to, and only then.
func (c *counter) way(t *suites.T) {
	if n := c.trapped.Load(); (n > 0) != (inTrap && c.n.Load() > 100) && c.n.Load() > 100 {
		t.Errorf("%d of %d hits in trap context; trap-safe: %v", n, c.n.Load(), inTrap)
	}
}
