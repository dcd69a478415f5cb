// Package sysctl is the registry of the kernel's knobs: typed, documented values that are
// their own storage.
//
//	var optimization = sysctl.NewBool("debug.kprobes-optimization", true, "…")
//	if optimization.Get() { … }
//
// Get is one atomic load and may be used in trap context. A knob is set by text, from
// sysctl(8) or a file in /proc/sys; an invalid text is refused and changes nothing. Names
// are words joined by dots; as in sysctl(8), "-" and "_" are the same in them, and so are
// "." and "/".
//
// Locks: setMu > registry.mu. Hooks are called under setMu, so they see
// changes in order and must not set a knob themselves.
package sysctl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"sonde/kernel/refusal"
)

// Knob is what the registry knows about a value of any type.
type Knob interface {
	Name() string
	Doc() string
	String() string  // the value
	Default() string // the value it had at first
	Set(text string) error
}

// head is what all knobs have.
type head struct{ name, doc string }

// Name returns the name as registered.
func (h *head) Name() string { return h.name }

// Doc returns what the knob does.
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
	knobs map[string]Knob // by canonical name
}

// canonical makes all spellings of a name the same.
func canonical(name string) string {
	return strings.NewReplacer("/", ".", "-", "_").Replace(name)
}

// register adds a knob. Two of one name are a mistake in the program.
func register(k Knob) {
	registry.mu.Lock()
	defer registry.mu.Unlock()
	if registry.knobs == nil {
		registry.knobs = make(map[string]Knob)
	}
	name := canonical(k.Name())
	if registry.knobs[name] != nil {
		panic("sysctl: " + k.Name() + " registered twice")
	}
	registry.knobs[name] = k
}

// Lookup finds a knob by any spelling of its name.
//
// Errors: ENOENT (wrapped with the name).
func Lookup(name string) (Knob, error) {
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	if k := registry.knobs[canonical(name)]; k != nil {
		return k, nil
	}
	return nil, fmt.Errorf("sysctl: %s: %w", name, syscall.ENOENT)
}

// Set sets a knob by name.
//
// Errors: ENOENT, EINVAL, and those of the knob's hook (wrapped).
func Set(name, text string) error {
	k, err := Lookup(name)
	if err != nil {
		return err
	}
	return k.Set(text)
}

// All returns all knobs by name.
func All() []Knob {
	registry.mu.RLock()
	defer registry.mu.RUnlock()
	all := make([]Knob, 0, len(registry.knobs))
	for _, k := range registry.knobs {
		all = append(all, k)
	}
	slices.SortFunc(all, func(a, b Knob) int { return strings.Compare(a.Name(), b.Name()) })
	return all
}

// Line returns "name = value", as sysctl(8) prints it.
func Line(k Knob) string { return k.Name() + " = " + k.String() }
