package places

import (
	"slices"
	"sort"

	"sonde/arch/amd64/insn"
	"sonde/kallsyms/pcln"
	"sonde/probe/attach"
)

// spots finds where control arrives in each of the parts.
func (im *Image) spots(what string, parts []pcln.Part) Found {
	f := Found{Parts: len(parts), what: what}
	for i, p := range parts {
		name := p.Func.Name()
		if s, ok := im.Symbols.At(p.Func.Addr); ok && s.Addr == p.Func.Addr {
			name = s.Name // as everything else calls it
		}
		for _, addr := range im.Enter(p) {
			f.Spots = append(f.Spots, Spot{attach.Site{Symbol: name, Offset: addr - p.Func.Addr, Addr: addr}, i, addr == p.Spans[0].Begin})
		}
	}
	return f
}

// Enter returns the instructions of a part at which control arrives there first, in calls of its
// function, ascending. There is none if nothing leads there that the walk can see.
func (im *Image) Enter(p pcln.Part) []uint64 {
	w := walk{im: im, Part: p, code: im.Code(p.Func.Addr, p.Func.End-p.Func.Addr)}
	w.seen = make([]bool, len(w.code))
	w.push(p.Func.Addr)
	w.push(p.Func.Recovers())
	for len(w.todo) > 0 {
		last := len(w.todo) - 1
		addr := w.todo[last]
		w.todo = w.todo[:last]
		w.follow(addr)
	}
	slices.Sort(w.found)
	return w.found
}

// walk follows the code of a function up to a part of it.
type walk struct {
	pcln.Part
	im     *Image
	code   []byte
	seen   []bool // by offset: it has been met
	todo   []uint64
	found  []uint64
	tables []uint64 // what may be the addresses of jump tables
	listed bool     // tables is complete
}

// push notes that control may come to addr; what is outside the function is ignored.
func (w *walk) push(addr uint64) {
	if off := addr - w.Func.Addr; off < uint64(len(w.seen)) && !w.seen[off] {
		w.seen[off] = true
		w.todo = append(w.todo, addr)
	}
}

// follow continues from one instruction.
func (w *walk) follow(addr uint64) {
	if w.inside(addr) {
		w.found = append(w.found, addr)
		return
	}
	in, err := insn.Decode(w.code[addr-w.Func.Addr:])
	if err != nil {
		return
	}
	if in.Flow.FallsThrough() || in.Flow == insn.Call || in.Flow == insn.CallInd || in.Flow == insn.Int3 || in.Flow == insn.Syscall {
		w.push(addr + uint64(in.Len))
	}
	switch {
	case in.Flow == insn.JmpInd:
		w.jump()
	case in.Flow.Direct() && in.Flow != insn.Call:
		w.push(in.Target(addr))
	}
}

// inside reports whether addr is in the part.
func (w *walk) inside(addr uint64) bool {
	i := sort.Search(len(w.Spans), func(i int) bool { return w.Spans[i].End > addr })
	return i < len(w.Spans) && w.Spans[i].Begin <= addr
}

// jump follows an indirect jump: through all the jump tables of the function, because the one that
// is used need not be known. A table is read up to the first word that is no address in the function.
func (w *walk) jump() {
	if !w.listed {
		w.listed = true
		insn.Walk(w.code, func(off int, in insn.Inst) bool {
			const opLEA = 0x8D
			if in.RIPRel && in.Map == insn.Map1B && in.Opcode == opLEA {
				w.tables = append(w.tables, w.Func.Addr+uint64(off)+uint64(in.Len)+uint64(in.Disp()))
			}
			return true
		})
	}
	for _, table := range w.tables {
		for ; ; table += 8 {
			to, ok := w.im.Word(table)
			if !ok || to < w.Func.Addr || to >= w.Func.End {
				break
			}
			w.push(to)
		}
	}
}
