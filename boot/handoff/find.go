package handoff

// Find returns the lowest multiple of align, a power of two, in [from, to) where n bytes of RAM are
// free. Spans in busy and the modules are not free.
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

// InUse reports whether a span in busy, or a module, overlaps [pa, pa+n), and where it ends.
func (out *Info) InUse(pa, n uint64, busy []Span) (behind uint64, taken bool) {
	if s, ok := overlap(out.Modules[:out.NModules], pa, n); ok {
		return s.PA + s.Len, true
	}
	s, ok := overlap(busy, pa, n)
	return s.PA + s.Len, ok
}

// overlap returns the first of the spans that overlaps [pa, pa+n).
func overlap(spans []Span, pa, n uint64) (Span, bool) {
	for _, s := range spans {
		if s.PA < pa+n && s.PA+s.Len > pa {
			return s, true
		}
	}
	return Span{}, false
}

// TouchesRAM reports whether any byte of s is RAM in the map.
func (out *Info) TouchesRAM(s Span) bool {
	for i := 0; i < out.NMap; i++ {
		if r := out.Map[i]; r.Type == RAM && s.PA < r.PA+r.Len && r.PA < s.PA+s.Len {
			return true
		}
	}
	return false
}

// HasRAM reports whether all of s is RAM in the map.
func (out *Info) HasRAM(s Span) bool {
	for i := 0; i < out.NMap; i++ {
		r := out.Map[i]
		if r.Type == RAM && s.PA >= r.PA && s.PA-r.PA <= r.Len && s.Len <= r.Len-(s.PA-r.PA) {
			return true
		}
	}
	return false
}

// RAM returns the size of all RAM in the map, in bytes.
func (out *Info) RAM() (n uint64) {
	for i := 0; i < out.NMap; i++ {
		if r := out.Map[i]; r.Type == RAM {
			n += r.Len
		}
	}
	return n
}
