// Package sysctl is the registry of the kernel's parameters: typed, documented values that are
// their own storage.
//
//	var optimization = sysctl.NewBool("debug.kprobes-optimization", true, "…")
//	if optimization.Get() { … }
//
// Get is one atomic load and may be used in trap context. A parameter is set by text, from
// sysctl(8) or a file in /proc/sys; an invalid text is refused and changes nothing. Names
// are words joined by dots; as in sysctl(8), "-" and "_" are the same in them, and so are
// "." and "/".
//
// Locks: setMu > registry.mu. Hooks are called under setMu, so they see
// changes in order and must not set a parameter themselves.
package sysctl

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/refusal"
)

// Parameter is what the registry knows about a value of any type.
type Parameter interface {
	Name() string
	Doc() string
	String() string  // the value
	Default() string // the value it had at first
	Set(text string) error
}

// head is what all parameters have.
type head struct{ name, doc string }

// Name returns the name as registered.
func (h *head) Name() string { return h.name }

// Doc returns what the parameter does.
func (h *head) Doc() string { return h.doc }

func (h *head) refuse(text, want string) error {
	return refusal.New(syscall.EINVAL, "sysctl: set %s to %s: not %s", h.name, Quote(text), want)
}

// Quote is text in quotes for an error, which must not repeat all of it if it is long.
func Quote(text string) string {
	const most = 64
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q… (%d bytes)", text[:most], len(text))
}

// setMu makes check, store and hook one step.
var setMu sync.Mutex

var registry struct {
	mu sync.RWMutex
	// guarded by mu:
	parameters map[string]Parameter // by canonical name
}

// canonical makes all spellings of a name the same.
func canonical(name string) string { return strings.NewReplacer("/", ".", "-", "_").Replace(name) }

// register adds a parameter. Two of one name are a mistake in the program.
func register(k Parameter) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.parameters == nil {
		registry.parameters = make(map[string]Parameter)
	}
	name := canonical(k.Name())
	if registry.parameters[name] != nil {
		panic("sysctl: " + k.Name() + " registered twice")
	}
	registry.parameters[name] = k
}

// Lookup finds a parameter by any spelling of its name.
//
// Errors: ENOENT (wrapped with the name).
func Lookup(name string) (Parameter, error) {
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	if k := registry.parameters[canonical(name)]; k != nil {
		return k, nil
	}
	return nil, refusal.New(syscall.ENOENT, "sysctl: there is no parameter %s", name)
}

// Set sets a parameter by name.
//
// Errors: ENOENT, EINVAL, and those of the parameter's hook (wrapped).
func Set(name, text string) error {
	k, err := Lookup(name)
	if err != nil {
		return err
	}
	return k.Set(text)
}

// All returns all parameters by name.
func All() []Parameter {
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	all := make([]Parameter, 0, len(registry.parameters))
	for _, k := range registry.parameters {
		all = append(all, k)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name() < all[j].Name() })
	return all
}

// Line returns "name = value", as sysctl(8) prints it.
func Line(k Parameter) string { return k.Name() + " = " + k.String() }
