package vfs

import (
	"syscall"

	"sonde/kernel/mm/backing"
)

// Text returns the backing.Text with which a running program denies writing to f.
func (f *File) Text() backing.Text {
	if r, ok := f.node.(*regular); ok {
		return &r.access
	}
	return noText{}
}

// Deny implements backing.Text.
//
// Errors: ETXTBSY while the file is open for writing.
func (a *access) Deny() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.writers > 0 && !a.memory {
		return syscall.ETXTBSY
	}
	a.texts++
	return nil
}

func (a *access) Allow() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts--
}

// noText is the Text of a file that is not in memory.
type noText struct{}

func (noText) Deny() error { return nil }
func (noText) Allow()      {}
