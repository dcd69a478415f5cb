package kallsyms

import "strconv"

// Named is what is at an address, of the kernel or of a program.
type Named struct {
	Name     string // of the function; if none is known, of the file (libc.so.6), of the mapping ([heap]), or the address
	Offset   uint64 // from the beginning of what has the name
	File     string // of a program: the path of the file that is mapped there, or the mapping; "": the kernel, or unknown
	Function bool   // Name is a function's
}

// String is the name with the offset: from a function in decimal notation, as bpftrace prints it.
func (n Named) String() string {
	switch {
	case n.Function:
		return n.Name + "+" + strconv.FormatUint(n.Offset, 10)
	case n.Offset != 0:
		return n.Name + "+0x" + strconv.FormatUint(n.Offset, 16)
	}
	return n.Name
}
