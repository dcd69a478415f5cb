package sysctl

// Trap context. Handlers ask for the values; each is one atomic load.

// Get returns the value. Context: any.
func (b *Bool) Get() bool { return b.value.Load() }

// Get returns the value. Context: any.
func (i *Int) Get() int64 { return i.value.Load() }

// Get returns the value. Context: any.
func (s *String) Get() string { return *s.value.Load() }
