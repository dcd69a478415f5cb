//go:build tamago

package kprobes

import (
	"fmt"
	"sync"

	"sonde/arch/amd64/retslot"
	"sonde/kallsyms"
)

// asksRuntime is the function by which one that reads its own return address
// learns the real one: see the overlay's sonde_ret.go.
const asksRuntime = "runtime.sondeCallerPC"

var asksRuntimeAt = sync.OnceValue(func() uint64 {
	s, _ := kallsyms.Resolve(asksRuntime)
	return s.Addr
})

// slotUses remembers what noReturnProbe has found, because reading a whole function
// takes longer than all else of a registration. guarded by mu
var slotUses = map[uint64]string{}

// noReturnProbe returns why a return probe on fn cannot work, "" if it can.
//
// Context: goroutine, with mu held.
func noReturnProbe(fn symbol) string {
	if why := switchesStacks(fn); why != "" {
		return why
	}
	why, ok := slotUses[fn.Addr]
	if !ok {
		why = usesSlot(fn)
		slotUses[fn.Addr] = why
	}
	return why
}

// usesSlot returns how fn, or a function that it jumps to, uses its own return
// address, "" if it does not or asks for the real one.
func usesSlot(fn symbol) string {
	seen := map[uint64]bool{fn.Addr: true}
	for todo := []symbol{fn}; len(todo) > 0; {
		f := todo[0]
		todo = todo[1:]
		use, err := retslot.Scan(f.Addr, original(uintptr(f.Addr), uintptr(f.Size)))
		if err != nil {
			return fmt.Sprintf("does not decode to its end: %v", err)
		}
		if use.Unasked(asksRuntimeAt()) {
			return how(fn, f, use.Slot[0])
		}
		for _, to := range use.Tails {
			if g, ok := kallsyms.Kernel().At(to); ok && g.Addr == to && !seen[to] {
				seen[to] = true
				todo = append(todo, g)
			}
		}
	}
	return ""
}

// how is the reason for refusing fn: f, at off, uses the return address.
func how(fn, f symbol, off int) string {
	const uses = "uses its own return address, which a return probe replaces"
	if f.Addr == fn.Addr {
		return fmt.Sprintf("%s (at +%#x)", uses, off)
	}
	return fmt.Sprintf("jumps to %s, which %s (at +%#x)", f.Name, uses, off)
}
