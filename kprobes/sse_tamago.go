//go:build tamago

package kprobes

import (
	"fmt"
	"sync"

	"sonde/arch/amd64/insn"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/printk"
)

// Saving and restoring X0-X14 would be a third of what a hit costs, and most
// handlers do not touch them. So the trap layer leaves them to us, and we prove
// by reading the code, once per handler, which handlers do: all that can be
// reached from one by direct calls is looked at, and an indirect call, or code
// that does not decode, counts as touching them. Handlers that fail the proof
// have them saved before they are called.

// sse remembers the answers.
var sse struct {
	mu    sync.Mutex
	known map[uintptr]bool // by address of the code: it may write X0-X14
}

// writesSSE reports whether the function f, which may be nil, may change X0-X14.
//
// Context: goroutine.
func writesSSE(f any) bool {
	pc := codeOf(f)
	if pc == 0 {
		return false
	}
	sse.mu.Lock()
	defer sse.mu.Unlock()
	w, ok := sse.known[pc]
	if !ok {
		fn, found := kallsyms.Kernel().At(uint64(pc))
		w = !found || searchSSE(fn, false) != nil
		if sse.known == nil {
			sse.known = map[uintptr]bool{}
		}
		sse.known[pc] = w
	}
	return w
}

// searchSSE looks for a write in fn and in all it calls. path: fn is this
// package's own, where indirect calls are those of handlers, and what is cold
// saves the registers first.
func searchSSE(fn symbol, path bool) error {
	seen := map[uint64]bool{fn.Addr: true}
	todo := []symbol{fn}
	for len(todo) > 0 {
		f := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if hasPrefix(f.Name, noReturn) || path && hasPrefix(f.Name, saved) {
			continue
		}
		if len(seen) > 64 {
			return fmt.Errorf("%s calls too much", fn.Name)
		}
		if off, writes := bodyWrites(f, path); writes {
			return fmt.Errorf("%s may write SSE registers in %s+%#x", fn.Name, f.Name, off)
		}
		for _, to := range callees(f) {
			g, ok := kallsyms.Kernel().At(to)
			if !ok {
				return fmt.Errorf("%s calls what has no symbol", f.Name)
			}
			if !seen[g.Addr] {
				seen[g.Addr] = true
				todo = append(todo, g)
			}
		}
	}
	return nil
}

// saved are functions on our own path that are only called with X0-X14 saved.
var saved = []string{
	"sonde/arch/amd64/trap.saveLate", "sonde/arch/amd64/trap.saveXMM",
	"sonde/kernel/die.Breakpoint", "sonde/kernel/die.Debug", "sonde/kprobes.(*Jprobe).enter",
	"sonde/kprobes.bug",
}

// noReturn are functions a handler calls only on its way to being abandoned.
var noReturn = []string{"runtime.panic", "runtime.goPanic", "runtime.morestack", "runtime.throw", "runtime.gopanic"}

// bodyWrites reports whether an instruction of f itself may write X0-X14, and
// where.
func bodyWrites(f symbol, path bool) (off int, writes bool) {
	code := original(uintptr(f.Addr), uintptr(f.Size))
	n, err := insn.Walk(code, func(off int, in insn.Inst) bool {
		writes = mayWriteXMM(&in) || !path && (in.Flow == insn.CallInd || in.Flow == insn.JmpInd)
		return !writes
	})
	return n, writes || err != nil || n == 0
}

// mayWriteXMM is true on doubt: of the extended maps only what is known to
// work on general registers and memory passes.
func mayWriteXMM(in *insn.Inst) bool {
	if in.Prefix.Has(insn.PVEX | insn.PEVEX) {
		return true
	}
	switch in.Map {
	case insn.Map1B:
		return in.Opcode >= 0xd8 && in.Opcode <= 0xdf // x87 and MMX state
	case insn.Map0F:
		return !integer0F(in)
	}
	return true
}

// integer0F lists the instructions of map 0F that leave XMM registers alone:
// integer ones, and stores of XMM registers to memory.
func integer0F(in *insn.Inst) bool {
	op := in.Opcode
	switch {
	case op>>4 == 4, op>>4 == 8, op>>4 == 9: // cmovcc, jcc, setcc
		return true
	case op >= 0xc8 && op <= 0xcf: // bswap
		return true
	case op == 0x57 && in.Reg() == 15: // xorps X15, X15: X15 is always saved
		return true
	case op == 0x11 || op == 0x29 || op == 0x7f: // movups, movaps, movdqu to memory
		return in.HasMem()
	}
	switch op {
	case 0x01, 0x05, 0x0b, 0x0d, 0x18, 0x1e, 0x1f, 0x20, 0x22, 0x30, 0x31, 0x32, 0xa2, 0xa3, 0xa4, 0xa5, 0xab,
		0xac, 0xad, 0xaf, 0xb0, 0xb1, 0xb3, 0xb6, 0xb7, 0xb8, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xc0, 0xc1, 0xc7:
		return true
	case 0xae: // fences; fxrstor and ldmxcsr are not
		return in.Mod() == 3
	}
	return false
}

// goLean has the trap layer leave X0-X14 to us, if our own way through a hit
// leaves them alone. Should the compiler ever make it otherwise, every trap
// saves them, and says so.
func goLean() {
	for _, root := range []string{"sonde/kprobes.onBreakpoint", "sonde/kprobes.onStep",
		"sonde/kprobes.onReturn", "sonde/kprobes.onDetour"} {
		s, err := kallsyms.Kernel().Addr(root)
		if err == nil {
			err = searchSSE(s, true)
		}
		if err != nil {
			printk.Warn("kprobes: hits save all SSE registers: %s", err.Error())
			return
		}
	}
	lean = true
	trap.LazyXMM()
}
