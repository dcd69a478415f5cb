// Package live tells what of the processor's state no instruction needs at a place in a function: code that is put there may
// change it without saving it.
//
// It errs to one side only: what it does not know is needed. Rules of calling are known of functions that Go's
// compiler has made, by ABIInternal; in assembly everything is needed where control leaves the function.
//
// Go's compiler has each call write the flags, but those of some functions in assembly, as DUFFZERO. So the flags are
// needed at calls of assembly.
//
// Source: Go, "ABI Internal", "amd64 architecture"; cmd/compile/internal/ssa/_gen/AMD64Ops.go.
package live

import "sonde/arch/amd64/insn"

// A Function is code that liveness is asked for.
type Function struct {
	Addr uint64
	Code []byte // without breakpoints and jumps
	// Compiled reports whether the function at an address is one that Go's compiler has made.
	Compiled func(addr uint64) bool
}

// most is how many instructions are looked at for one answer; what takes more is needed.
const most = 256

// FlagsDead reports whether no instruction reads the flags as they are in front of the instruction at offset off: on each way
// from there, they are written first, or left to a function that does not look at them.
func (f *Function) FlagsDead(off int) bool {
	w := walk{f: f, seen: map[int]Flags{}, compiled: f.Compiled(f.Addr), left: most}
	return w.dead(off, all)
}

// A walk goes along all ways from a place.
type walk struct {
	f        *Function
	seen     map[int]Flags // with which flags a way came by
	compiled bool
	left     int
}

// dead reports whether no instruction reads flags as they are at off. The depth is bounded by left.
func (w *walk) dead(off int, flags Flags) bool {
	for {
		if seen, ok := w.seen[off]; ok && flags&^seen == 0 {
			return true
		}
		w.seen[off] |= flags
		if w.left--; w.left < 0 || off < 0 || off >= len(w.f.Code) {
			return false
		}
		in, err := insn.Decode(w.f.Code[off:])
		if err != nil {
			return false
		}
		reads, writes := FlagsOf(&in)
		if reads&flags != 0 {
			return false
		}
		if flags &^= writes; flags == 0 {
			return true
		}
		next := off + int(in.Len)
		switch in.Flow {
		case insn.Next:
			off = next
		case insn.Jmp:
			if off = w.inside(&in, off); off < 0 {
				return w.compiled // it calls, and does not come back
			}
		case insn.Jcc, insn.Loop:
			to := w.inside(&in, off)
			if to < 0 && !w.compiled || to >= 0 && !w.dead(to, flags) {
				return false
			}
			off = next
		case insn.Call:
			return w.compiled && w.f.Compiled(in.Target(w.f.Addr+uint64(off)))
		case insn.CallInd, insn.Ret:
			return w.compiled
		default:
			return false
		}
	}
}

// inside returns the offset that a direct branch at off leads to; less than 0: it leads out of the function.
func (w *walk) inside(in *insn.Inst, off int) int {
	to := int64(in.Target(uint64(off)))
	if to < 0 || to >= int64(len(w.f.Code)) {
		return -1
	}
	return int(to)
}

// EntryFree reports whether R12, R13 and R15 have no use at the entry. Arguments are not in them. checked says that
// the function begins with a stack check; nothing then comes back to the entry but from the call of morestack. If it
// does not, the first block may be a loop, which has its own variables there.
func (f *Function) EntryFree(checked bool) bool {
	if !f.Compiled(f.Addr) {
		return false
	}
	if checked {
		return true
	}
	again := false
	_, err := insn.Walk(f.Code, func(off int, in insn.Inst) bool {
		again = again || in.Flow == insn.JmpInd || in.Flow.Direct() && in.Flow != insn.Call && in.Target(uint64(off)) == 0
		return !again
	})
	return err == nil && !again
}
