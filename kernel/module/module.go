// Package module manages the kernel's modules: packages that are linked in, but do nothing
// before insmod and nothing after rmmod.
//
// A module is a Go value, registered when its package is initialized. What insmod loads is an
// instance of it, with a name and parameters of its own; rmmod unloads that instance. A module
// whose state is package variables has one instance at most. If Init fails, everything is as
// before. If an unloaded instance has not unregistered something, the package that registered
// it does so (OnUnload).
//
// Parameters are variables, bound by name, with a type and a description; each insmod starts
// with their values at registration, or those that New gives them.
//
// Rejected: loading code at run time. The purpose of insmod in a course (see a module come
// and go, give it parameters) needs no linker in the kernel.
//
// Locks: table.mu, not held while Init or Exit run; an instance that is being loaded or
// unloaded is marked instead, so Init and Exit may load and unload others.
package module

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"sonde/kallsyms"
	"sonde/kernel/printk"
	"sonde/kernel/refusal"
)

// Module is a loadable piece of the kernel. It has either New, or those of Params, Init and
// Exit that it needs.
type Module struct {
	Name string
	Doc  string // one line for lsmod

	// New makes an instance, which is loaded under this name. Of a module with New there
	// may be many at a time. It only makes variables: insmod calls it first, and modinfo to
	// show the parameters.
	New func(name string) *Instance

	// A module without New can be loaded once at a time. Its parameters are package
	// variables.
	Params Params
	Init   func() error
	Exit   func()

	only      *Instance // of a module without New: Params, Init and Exit
	file, pkg string    // the source file that registers it, and the package
}

// An Instance is what insmod loads of a module.
type Instance struct {
	Params Params
	Init   func() error // nil is fine
	Exit   func()       // nil: cannot be unloaded
}

// instance returns what would be loaded under name, with the values that parameters have
// unless they are given.
func (m *Module) instance(name string) *Instance {
	if m.only != nil {
		return m.only
	}
	i := m.New(name)
	i.Params.bind()
	return i
}

// Parameters returns the parameters of a module.
func (m *Module) Parameters() Params { return m.instance(m.Name).Params }

// State is the state of an instance, as shown in /proc/modules.
type State string

// The states; what is not loaded has none.
const (
	Live      State = "Live"
	Loading   State = "Loading"
	Unloading State = "Unloading"
)

// Status is a loaded instance and its state.
type Status struct {
	Name string
	*Instance
	Module *Module
	State  State
}

var table struct {
	mu sync.Mutex
	// guarded by mu:
	known    map[string]*Module
	clashes  map[string]error // errors for names that two modules have
	loaded   []*Status        // newest last
	onUnload []func(name string) []string
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
	m.file, m.pkg = file, kallsyms.Package(runtime.FuncForPC(pc).Name())
	if other := table.known[m.Name]; other != nil {
		err := refusal.New(syscall.EEXIST, "two modules have this name, in %s and %s; rename one", other.file, m.file)
		printk.Err("module %s: %s", m.Name, err.Error())
		table.clashes[m.Name] = err
		return
	}
	if m.New == nil {
		m.Params.bind()
		m.only = &Instance{m.Params, m.Init, m.Exit}
	}
	table.known[m.Name] = m
}

// Available returns the known modules by name.
func Available() []*Module {
	table.mu.Lock()
	defer table.mu.Unlock()
	return slices.SortedFunc(maps.Values(table.known), func(a, b *Module) int { return strings.Compare(a.Name, b.Name) })
}

// Loaded returns the loaded instances, newest first as lsmod has them.
func Loaded() []Status {
	table.mu.Lock()
	defer table.mu.Unlock()
	all := make([]Status, 0, len(table.loaded))
	for _, s := range slices.Backward(table.loaded) {
		all = append(all, *s)
	}
	return all
}

// Lookup returns what has this name: a loaded instance, or a module as it would be loaded,
// which has no state.
//
// Errors: ENOENT (with similar names), EEXIST two modules have the name.
func Lookup(name string) (Status, error) {
	table.mu.Lock()
	if s := find(name); s != nil {
		defer table.mu.Unlock()
		return *s, nil
	}
	m, err := known(name)
	table.mu.Unlock()
	if err != nil {
		return Status{}, err
	}
	return Status{Name: name, Instance: m.instance(name), Module: m}, nil
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
