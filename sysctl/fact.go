package sysctl

import (
	"syscall"

	"sonde/kernel/refusal"
)

// Fact is a value that can only be read: what programs look for in /proc/sys.
type Fact struct {
	head
	value func() string
}

// NewFact registers what value returns.
func NewFact(name string, value func() string, doc string) *Fact {
	f := &Fact{head{name, doc}, value}
	register(f)
	return f
}

// String returns the value now.
func (f *Fact) String() string { return f.value() }

// Default returns the value now: it has no other.
func (f *Fact) Default() string { return f.value() }

// Set refuses.
//
// Errors: EPERM.
func (f *Fact) Set(string) error {
	return refusal.New(syscall.EPERM, "sysctl: %s can only be read", f.name)
}
