package kprobes

import "slices"

// siteCount is how many sites the table holds. guarded by mu
var siteCount int

// insert adds s to the table of sites: in place while there is room, as readers
// see an entry as soon as it is stored. Called with mu held.
func insert(s *site) {
	siteCount++
	p := sites.Load()
	if p == nil || 2*siteCount > len(*p) {
		rebuild(append(allSites(), s))
		return
	}
	place(*p, s)
}

// place stores s in the first free entry of its chain.
func place(t table, s *site) {
	mask := uintptr(len(t) - 1)
	i := hash(s.addr) & mask
	for t[i].Load() != nil {
		i = (i + 1) & mask
	}
	t[i].Store(s)
}

// drop takes the sites in gone out of the table. Called with mu held.
func drop(gone ...*site) {
	if len(gone) == 0 {
		return
	}
	for _, s := range gone {
		s.gone = true
	}
	rebuild(slices.DeleteFunc(allSites(), func(s *site) bool { return s.gone }))
}

// allSites returns every site, in no order.
func allSites() (all []*site) {
	p := sites.Load()
	if p == nil {
		return nil
	}
	for i := range *p {
		if s := (*p)[i].Load(); s != nil {
			all = append(all, s)
		}
	}
	return all
}

// rebuild makes a table of all and publishes it.
func rebuild(all []*site) {
	size := 64
	for size < 4*len(all) {
		size *= 2
	}
	t := make(table, size)
	for _, s := range all {
		place(t, s)
	}
	siteCount = len(all)
	sites.Store(&t)
}
