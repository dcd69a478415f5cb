package btf

// set finds what a Builder has written by its bytes. It has numbers without pointers: the garbage collector does not
// look into it, and the kernel has 49,000 types and strings.
type set struct {
	slots []slot
	n     int
}

// slot is where something is. A value of 0 is an empty slot.
type slot struct{ hash, value uint32 }

// slot returns the slot of what has a hash, or the empty one in which it belongs. is says whether a value is it.
func (s *set) slot(hash uint32, is func(value uint32) bool) *slot {
	if 2*s.n >= len(s.slots) {
		s.grow()
	}
	for i := hash; ; i++ {
		at := &s.slots[i%uint32(len(s.slots))]
		if at.value == 0 || at.hash == hash && is(at.value) {
			return at
		}
	}
}

// fill puts a value into a slot that slot has returned.
func (s *set) fill(at *slot, hash, value uint32) {
	*at = slot{hash, value}
	s.n++
}

func (s *set) grow() {
	old := s.slots
	s.slots = make([]slot, max(1<<10, 4*len(old)))
	s.n = 0
	for _, full := range old {
		if full.value != 0 {
			s.fill(s.slot(full.hash, func(uint32) bool { return false }), full.hash, full.value)
		}
	}
}
