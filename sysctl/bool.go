package sysctl

import (
	"strings"
	"sync/atomic"
)

// Bool is a switch; as text it is 0 or 1.
type Bool struct {
	head
	def     bool
	value   atomic.Bool
	changed func(bool) error
}

// NewBool registers a switch.
func NewBool(name string, def bool, doc string) *Bool {
	b := &Bool{head: head{name, doc}, def: def}
	b.value.Store(def)
	register(b)
	return b
}

// OnChange makes each change call f. If f returns an error, the old value is put
// back, and the caller that set the switch gets the error. It returns b.
func (b *Bool) OnChange(f func(v bool) error) *Bool {
	setMu.Lock()
	defer setMu.Unlock()
	b.changed = f
	return b
}

// String returns the value as text.
func (b *Bool) String() string { return boolText(b.Get()) }

// Default returns the first value as text.
func (b *Bool) Default() string { return boolText(b.def) }

// Set takes 0, 1, n and y.
//
// Errors: EINVAL, and that of the hook (wrapped).
func (b *Bool) Set(text string) error {
	v, ok := ParseBool(text)
	if !ok {
		return b.refuse(text, "0, 1, n or y")
	}
	return b.Store(v)
}

// ParseBool reads what Linux takes of a bool: y, Y, 1 and n, N, 0. Blanks around it do not matter.
func ParseBool(text string) (v, ok bool) {
	switch strings.TrimSpace(text) {
	case "0", "n", "N":
		return false, true
	case "1", "y", "Y":
		return true, true
	}
	return false, false
}

// Store sets the switch. Setting what it is already calls no hook.
//
// Context: goroutine; takes setMu.
// Errors:  that of the hook.
func (b *Bool) Store(v bool) error {
	setMu.Lock()
	defer setMu.Unlock()
	old := b.value.Swap(v)
	if old == v || b.changed == nil {
		return nil
	}
	if err := b.changed(v); err != nil {
		b.value.Store(old)
		return err
	}
	return nil
}

func boolText(v bool) string {
	if v {
		return "1"
	}
	return "0"
}
