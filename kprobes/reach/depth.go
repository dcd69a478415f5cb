package reach

import (
	"slices"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
)

// frame returns how many bytes in makes the stack grow by, 0 for none. What takes them
// off again is not looked at: the sum over a function is the most that it can have.
func frame(in *insn.Inst) int {
	if in.Trait.Has(insn.Push) && in.Flow != insn.Call && in.Flow != insn.CallInd {
		return 8
	}
	if in.Map != insn.Map1B || in.Prefix.Has(insn.PVEX|insn.PEVEX) {
		return 0
	}
	n := int64(int32(in.Imm()))
	if in.Opcode == 0x83 {
		n = int64(int8(n))
	}
	switch {
	case in.Opcode != 0x81 && in.Opcode != 0x83 || in.RMReg() != insn.RSP:
		n = 0
	case in.Group() == 0: // ADD
		n = -n
	case in.Group() != 5: // SUB
		n = 0
	}
	if in.Opcode == 0x8d && in.Reg() == insn.RSP { // LEA SP, m
		if m, ok := in.MemOperand(); ok && m.Base == insn.RSP {
			n = -m.Disp
		}
	}
	return int(max(n, 0))
}

// TrapDepth returns how many bytes of stack trap code may take before a handler is
// called, and the way by which it does. Functions that call one another in a circle
// count once each: of a trap none goes round without an end. What is cold counts as
// nothing, as does a way to the end of the machine: they may fail.
func (g *Graph) TrapDepth() (bytes int, path []string) {
	return g.depth(g.addrs(trapEntries), append(cold[:len(cold):len(cold)], dying...))
}

// depth is TrapDepth for other roots: what is in apart counts as nothing.
func (g *Graph) depth(roots []uint64, apart names) (bytes int, path []string) {
	d := depths{g: g, within: Reached{}, index: map[uint64]int{}, group: map[uint64]*group{}}
	d.within = g.walk(roots, g.leads, func(fn kallsyms.Symbol, _ Reached) Next {
		if apart.fits(fn.Name) {
			return Skip
		}
		return Into
	})
	var deepest *group
	for _, r := range roots {
		if d.index[r] == 0 {
			d.visit(r)
		}
		if c := d.group[r]; deepest == nil || c.depth > deepest.depth {
			deepest = c
		}
	}
	for c := deepest; c != nil; c = c.then {
		bytes = deepest.depth
		for _, addr := range c.members {
			if sym, ok := g.syms.At(addr); ok {
				path = append(path, sym.Name)
			}
		}
	}
	return bytes, path
}

// group is functions that call one another, mostly one.
type group struct {
	members []uint64
	depth   int    // bytes, with the deepest that they call
	then    *group // that
}

// depths looks for groups: they are found when all that they call has been.
//
// Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
type depths struct {
	g      *Graph
	within Reached
	index  map[uint64]int // the order in which functions are come to, from 1
	stack  []uint64       // those that are in no group yet
	group  map[uint64]*group
}

// visit returns the first function that addr leads back to.
func (d *depths) visit(addr uint64) (low int) {
	low = len(d.index) + 1
	mine := low
	d.index[addr] = mine
	d.stack = append(d.stack, addr)
	for _, to := range d.leads(addr) {
		switch {
		case d.index[to] == 0:
			low = min(low, d.visit(to))
		case d.group[to] == nil:
			low = min(low, d.index[to])
		}
	}
	if low == mine {
		i := slices.Index(d.stack, addr)
		d.close(slices.Clone(d.stack[i:]))
		d.stack = d.stack[:i]
	}
	return low
}

// leads returns where the function at addr leads, within what is looked at.
func (d *depths) leads(addr uint64) (to []uint64) {
	f, ok := d.g.At(addr)
	if !ok {
		return nil
	}
	for _, a := range d.g.leads(f) {
		if _, in := d.within[a]; in {
			to = append(to, a)
		}
	}
	return to
}

// close makes a group of functions.
func (d *depths) close(members []uint64) {
	c := &group{members: members}
	slices.Reverse(c.members)
	for _, addr := range members {
		d.group[addr] = c
	}
	for _, addr := range members {
		f, ok := d.g.At(addr)
		if !ok {
			continue
		}
		c.depth += f.Frame
		for _, to := range d.leads(addr) {
			if t := d.group[to]; t != c && (c.then == nil || t.depth > c.then.depth) {
				c.then = t
			}
		}
	}
	if c.then != nil {
		c.depth += c.then.depth
	}
}
