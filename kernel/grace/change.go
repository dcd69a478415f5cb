package grace

// A Change is what is left to do when places have got, or lost, their probes: CPUs may still be in handlers
// that they found before. Changes of several kinds take one wait for all CPUs.
type Change struct {
	Written []func() // code was written: what is done when all CPUs execute it, before Each
	Each    []func() // what each CPU does with interrupts off, and so outside of handlers; none: nothing waits for the CPUs
	Then    []func() // what is done when all CPUs have
}

// With returns c and d as one; what is left of d is done last.
// It is not inlined: the image would have 1.4 KB more.
//
//go:noinline
func (c Change) With(d Change) Change {
	return Change{append(c.Written, d.Written...), append(c.Each, d.Each...), append(c.Then, d.Then...)}
}

// Complete waits for all CPUs, once, and once before that if code was written, and does the rest.
//
// Context: goroutine, not a handler.
func (c Change) Complete() {
	if len(c.Written) > 0 {
		syncAll()
		do(c.Written)
	}
	if len(c.Each) > 0 {
		CallAll(func() { do(c.Each) })
	}
	do(c.Then)
}

func do(all []func()) {
	for _, f := range all {
		f()
	}
}
