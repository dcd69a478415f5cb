package gotypes

import "sonde/kallsyms"

// Entry is a function of the image.
type Entry struct {
	Addr uint64
	Name string
}

// Entries returns all functions of an image, in the order of addresses; those of one address count once.
func Entries(syms *kallsyms.Table) (list []Entry) {
	for s := range syms.Text {
		if n := len(list); n > 0 && list[n-1].Addr == s.Addr {
			list[n-1].Name = s.Name // the last is what is there
		} else {
			list = append(list, Entry{s.Addr, s.Name})
		}
	}
	return list
}
