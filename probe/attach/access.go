package attach

// Access is what a watchpoint reports.
type Access uint8

const (
	Write     Access = iota
	ReadWrite        // reads and writes
	Execute
	// Read is ReadWrite without the accesses that change the value, because the processor
	// cannot watch reads alone. So a write that leaves the value unchanged counts as a
	// read.
	Read
)

// accesses are the names that people type.
var accesses = [...]string{Write: "w", ReadWrite: "rw", Execute: "x", Read: "r"}

// String returns w, rw, x or r.
func (a Access) String() string {
	if int(a) < len(accesses) {
		return accesses[a]
	}
	return "?"
}

func parseAccess(s string) (Access, bool) {
	for a, name := range accesses {
		if s == name {
			return Access(a), true
		}
	}
	return 0, false
}
