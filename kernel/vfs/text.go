package vfs

import (
	"syscall"

	"sonde/kernel/mm/space"
)

// Text returns what says that f's program runs.
func (f *File) Text() space.Text {
	if r, ok := f.node.(*regular); ok {
		return &r.access
	}
	return noText{}
}

// Deny implements space.Text.
//
// Errors: ETXTBSY while anyone has the file open for writing.
func (a *access) Deny() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.writers > 0 && !a.memory {
		return syscall.ETXTBSY
	}
	a.texts++
	return nil
}

// Allow implements space.Text.
func (a *access) Allow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts--
}

// noText is that of what is no file in memory.
type noText struct{}

func (noText) Deny() error { return nil }
func (noText) Allow()      {}
