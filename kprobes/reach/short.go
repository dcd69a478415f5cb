package reach

import "fmt"

// Short system calls are answered with interrupts off while X0-X14 are the program's, on what its
// goroutine's stack has left (arch/amd64/user, short.go). So none of their code may write these
// registers, grow the stack, panic, or do what does not work in a trap.

// shortCall is where they begin, shortCaller what calls one of the functions in the table that is
// called shortTable.
const (
	shortCall   = "sonde/linux/syscall.Short"
	shortCaller = "sonde/linux/syscall.answer"
	shortTable  = "sonde/linux/syscall.shorts"
)

// shortRoom is how much stack they may take, in bytes. What calls enter has some 800 left: that of
// functions without a stack check.
const shortRoom = 256

// verifyShort returns what is wrong with them; an image without programs has none.
func (g *Graph) verifyShort() error {
	roots := g.addrs(names{shortCall})
	if len(roots) == 0 {
		return nil
	}
	if len(g.shorts()) == 0 {
		return fmt.Errorf("the short system calls are not in %s", shortTable)
	}
	if err := g.prove(roots[0], nil, g.leads, unfit); err != nil {
		return fmt.Errorf("short system calls: %w", err)
	}
	if n, path := g.depth(roots, nil); n > shortRoom {
		return fmt.Errorf("short system calls take %d bytes of stack, not %d at most: %s", n, shortRoom, Arrows(path))
	}
	return nil
}

// unfit returns why no short call may run f, "" if it may.
func unfit(f *Func) string {
	if rule := broken(f.Name); rule != "" {
		return " " + rule
	}
	if dying.fits(f.Name) {
		return " grows the stack or panics"
	}
	return f.doubt(fits(shortCaller, f.Name))
}

// shorts returns the functions in their table.
func (g *Graph) shorts() (all []uint64) {
	table, err := g.syms.Addr(shortTable)
	if err != nil {
		return nil
	}
	for addr := table.Addr; addr < table.Addr+table.Size; addr += 8 {
		if value, ok := g.word(addr); ok && value != 0 {
			all = append(all, g.callees(value)...)
		}
	}
	return all
}
