package verify

// use passes on to the newer state, which the older covers, how the values of the older were used:
// what is true of the paths from the older is true of those that were not walked.
func (m *matcher) use(old, now *state) {
	for i, f := range old.frames {
		g := now.frames[i]
		for r := range f.regs {
			passOn(&f.regs[r], &g.regs[r])
		}
		for w, sl := range f.slots {
			if sl != nil && g.slots[w] != nil {
				passOnSlot(sl, g.slots[w])
			}
		}
	}
}

func passOn(old, now *reg) {
	if old.kind != unset && now.kind != unset && old.from.use != unused {
		now.from.mark(old.from.use)
	}
}

// passOnSlot: bytes of the older may be in a value of the newer.
func passOnSlot(old, now *slot) {
	now.from.mark(old.from.use)
	for i, sp := range now.spills {
		if sp == nil {
			continue
		}
		sp.from.mark(old.from.use)
		if o := old.spills[i]; o != nil && o.kind != unset {
			sp.from.mark(o.from.use)
		}
	}
}
