package handoff

// Find returns the lowest multiple of align, a power of two, from which on n bytes of RAM
// are free, in [from, to). What busy lists is not free, nor are the modules.
func (out *Info) Find(from, to, n, align uint64, busy []Span) (pa uint64, ok bool) {
	for i := 0; i < out.NMap; i++ {
		r := out.Map[i]
		if r.Type != RAM {
			continue
		}
		end := min(r.PA+r.Len, to)
		for pa = max(r.PA, from); pa <= end; {
			if pa = (pa + align - 1) &^ (align - 1); pa > end || end-pa < n {
				break
			}
			behind, taken := out.InUse(pa, n, busy)
			if !taken {
				return pa, true
			}
			pa = behind
		}
	}
	return 0, false
}

// InUse reports whether something in busy, or a module, shares bytes with [pa, pa+n), and
// where that ends.
func (out *Info) InUse(pa, n uint64, busy []Span) (behind uint64, taken bool) {
	if s, ok := overlap(out.Modules[:out.NModules], pa, n); ok {
		return s.PA + s.Len, true
	}
	s, ok := overlap(busy, pa, n)
	return s.PA + s.Len, ok
}

// overlap returns the first of the spans that shares bytes with [pa, pa+n).
func overlap(spans []Span, pa, n uint64) (Span, bool) {
	for _, s := range spans {
		if s.PA < pa+n && s.PA+s.Len > pa {
			return s, true
		}
	}
	return Span{}, false
}

// TouchesRAM reports whether the map calls a byte of s RAM.
func (out *Info) TouchesRAM(s Span) bool {
	for i := 0; i < out.NMap; i++ {
		if r := out.Map[i]; r.Type == RAM && s.PA < r.PA+r.Len && r.PA < s.PA+s.Len {
			return true
		}
	}
	return false
}

// HasRAM reports whether the map calls all of s RAM.
func (out *Info) HasRAM(s Span) bool {
	for i := 0; i < out.NMap; i++ {
		r := out.Map[i]
		if r.Type == RAM && s.PA >= r.PA && s.PA-r.PA <= r.Len && s.Len <= r.Len-(s.PA-r.PA) {
			return true
		}
	}
	return false
}

// RAM returns how much of the map is RAM, in bytes.
func (out *Info) RAM() (n uint64) {
	for i := 0; i < out.NMap; i++ {
		if r := out.Map[i]; r.Type == RAM {
			n += r.Len
		}
	}
	return n
}
