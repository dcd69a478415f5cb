package attach

// A Change is what is left to do when places have got, or lost, their probes: CPUs may still be in handlers
// that they found before. Changes of several kinds take one wait for all CPUs.
type Change struct {
	Each []func() // what each CPU does with interrupts off, and so outside of handlers; none: nobody waits for the CPUs
	Then []func() // what is done when all CPUs have
}

// With returns c and d as one; what is left of d is done last.
func (c Change) With(d Change) Change {
	return Change{append(c.Each, d.Each...), append(c.Then, d.Then...)}
}

// Complete waits for all CPUs, once, and does the rest.
//
// Context: goroutine, not a handler.
func (c Change) Complete() {
	if len(c.Each) > 0 {
		callAll(func() {
			for _, f := range c.Each {
				f()
			}
		})
	}
	for _, f := range c.Then {
		f()
	}
}
