package link

import (
	"sonde/arch/amd64/goabi"
	"sonde/linux/program"
	"sonde/probe/attach"
)

// Convention says where the functions of a place in a program's file find their arguments. Where there is
// nothing, registering says so.
func Convention(f *program.File, at attach.Site) (c goabi.Convention) {
	if at.Symbol == "" {
		addr, _ := f.Vaddr(at.Offset)
		return f.Convention(addr)
	}
	names := []string{at.Symbol}
	if at.Pattern() {
		names = f.Fitting(at.Symbol)
	}
	first := true
	for _, name := range names {
		for _, s := range f.Named(name) {
			if one := f.Convention(s.Addr); first {
				c, first = one, false
			} else if one != c {
				return goabi.Mixed
			}
		}
	}
	return c
}
