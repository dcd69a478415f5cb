// Package module manages the kernel's modules: pieces that are linked in, but do nothing
// before insmod and nothing after rmmod.
//
// A module is a Go value, registered when its package is initialized. Its parameters are
// variables, bound by name, with a type and a description; each insmod starts with their
// values at registration. If Init fails, everything is as before. If an unloaded module has
// not unregistered something, the package that registered it does so (OnUnload).
//
// Rejected: loading code at run time. What insmod is for in a course (see a module arrive,
// see it leave, give it parameters) needs no linker in the kernel.
//
// Locks: table.mu, not held while Init or Exit run; a module that is being loaded or
// unloaded is marked instead, so Init and Exit may load and unload others.
package module

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// Module is a loadable piece of the kernel.
type Module struct {
	Name   string
	Doc    string // one line for lsmod
	Params Params
	Init   func() error // nil is fine
	Exit   func()       // nil: cannot be unloaded

	file, pkg string // the source file that registers it, and the package
}

// State is the state of a module, as shown in /proc/modules.
type State string

// The states; a module that is not loaded has none.
const (
	Live      State = "Live"
	Loading   State = "Loading"
	Unloading State = "Unloading"
)

// Status is a loaded module and its state.
type Status struct {
	*Module
	State State
}

var table struct {
	mu sync.Mutex
	// guarded by mu:
	known    map[string]*Module
	clashes  map[string]error // errors for names that two modules have
	loaded   []*Status        // newest last
	onUnload []func(name string)
}

// Register makes a module known. If another module has the same name, neither can be
// loaded, and insmod says which files register them.
//
// Context: package initialization.
func Register(m *Module) {
	table.mu.Lock()
	defer table.mu.Unlock()
	if table.known == nil {
		table.known = make(map[string]*Module)
		table.clashes = make(map[string]error)
	}
	pc, file, _, _ := runtime.Caller(1)
	m.file, m.pkg = file, packageOf(runtime.FuncForPC(pc).Name())
	if other := table.known[m.Name]; other != nil {
		err := refusal.New(syscall.EEXIST, "two modules have this name, in %s and %s; rename one", other.file, m.file)
		printk.Err("module %s: %s", m.Name, err.Error())
		table.clashes[m.Name] = err
		return
	}
	m.Params.bind()
	table.known[m.Name] = m
}

// Available returns the known modules by name.
func Available() []*Module {
	table.mu.Lock()
	defer table.mu.Unlock()
	all := make([]*Module, 0, len(table.known))
	for _, m := range table.known {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *Module) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Loaded returns the loaded modules, newest first as lsmod has them.
func Loaded() []Status {
	table.mu.Lock()
	defer table.mu.Unlock()
	all := make([]Status, 0, len(table.loaded))
	for _, s := range slices.Backward(table.loaded) {
		all = append(all, *s)
	}
	return all
}

// ProcModules returns the text of /proc/modules. All code is part of the kernel, so there
// is no size or address to show.
func ProcModules() string {
	var b strings.Builder
	for _, s := range Loaded() {
		fmt.Fprintf(&b, "%s 0 0 - %s 0x%016x\n", s.Name, s.State, 0)
	}
	return b.String()
}

// Insmod loads a module with parameters of the form "name=value".
//
// Context: goroutine; calls Init.
// Errors: ENOENT (with similar names), EEXIST, EINVAL, EFAULT if Init panics, and those of
// Init (wrapped with the module's name).
func Insmod(name string, params ...string) error {
	s, err := begin(name)
	if err == nil {
		if err = s.load(params); err == nil {
			return nil
		}
		s.forget()
	}
	return fmt.Errorf("module %s: %w", name, err)
}

// Rmmod unloads a module. When it returns, nothing of the module is left.
//
// Context: goroutine; calls Exit.
// Errors: ENOENT it is not loaded; EBUSY it cannot be unloaded, or is being loaded or
// unloaded (wrapped with the module's name).
func Rmmod(name string) error {
	s, err := leave(name)
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	err = guard("exit", func() error { return as(s.Module, func() error { s.Exit(); return nil }) })
	sweep(s.Module)
	s.Params.reset()
	s.forget()
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	return nil
}

// begin marks a module as loading.
func begin(name string) (*Status, error) {
	table.mu.Lock()
	defer table.mu.Unlock()
	m := table.known[name]
	if m == nil {
		return nil, unknown(name)
	}
	if err := table.clashes[name]; err != nil {
		return nil, err
	}
	if find(name) != nil {
		return nil, refusal.New(syscall.EEXIST, "already loaded")
	}
	s := &Status{m, Loading}
	table.loaded = append(table.loaded, s)
	return s, nil
}

// leave marks a module as unloading.
func leave(name string) (*Status, error) {
	table.mu.Lock()
	defer table.mu.Unlock()
	s := find(name)
	switch {
	case s == nil && table.known[name] == nil:
		return nil, unknown(name)
	case s == nil:
		return nil, refusal.New(syscall.ENOENT, "not loaded")
	case s.State != Live || s.Exit == nil:
		return nil, syscall.EBUSY
	}
	s.State = Unloading
	return s, nil
}

// load sets the parameters and calls Init; after an error the parameters are as before.
func (s *Status) load(params []string) error {
	s.Params.reset()
	err := s.Params.set(params)
	if err == nil && s.Init != nil {
		err = guard("init", func() error { return as(s.Module, s.Init) })
	}
	if err != nil {
		sweep(s.Module)
		s.Params.reset()
		return err
	}
	table.mu.Lock()
	s.State = Live
	table.mu.Unlock()
	return nil
}

// forget takes a module off the list of loaded ones.
func (s *Status) forget() {
	table.mu.Lock()
	defer table.mu.Unlock()
	if i := slices.Index(table.loaded, s); i >= 0 {
		table.loaded = slices.Delete(table.loaded, i, i+1)
	}
}

// find returns the entry of a loaded module. The caller holds table.mu.
func find(name string) *Status {
	for _, s := range table.loaded {
		if s.Name == name {
			return s
		}
	}
	return nil
}
