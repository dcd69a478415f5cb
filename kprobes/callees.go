package kprobes

import (
	"strings"

	"sonde/kallsyms"
	"sonde/kprobes/machine"
)

// Callees is what a function of the kernel calls, directly and by the functions that it calls.
type Callees struct {
	Funcs   []kallsyms.Symbol // that can have a probe and a return probe, the nearest first
	Beyond  int               // how many more there are than was asked for
	Refused int               // how many cannot have such probes
	Runtime int               // how many are the runtime's: they are not followed
	Blind   []kallsyms.Symbol // which call through an interface or a closure, and the code does not show what
}

// CalleesOf returns at most so many functions that the one at an address calls, down to a depth: 1 is what it calls itself.
func CalleesOf(addr uint64, depth, most int) (c Callees) {
	guard := machine.This.Guard
	if guard == nil {
		return c
	}
	black := machine.This.Blacklist()
	found, blind := guard.Graph().Below(addr, depth, func(s kallsyms.Symbol) bool {
		switch {
		case isRuntime(s.Name):
			c.Runtime++
		case black[s.Addr] != "" || guard.NoReturn(s) != "":
			c.Refused++
		default:
			return false
		}
		return true
	})
	c.Funcs, c.Blind = found[:min(len(found), most)], blind
	c.Beyond = len(found) - len(c.Funcs)
	return c
}

// isRuntime reports whether a function belongs to the runtime, or was made by the compiler.
func isRuntime(name string) bool {
	for _, begin := range []string{"runtime.", "internal/runtime/", "internal/abi.", "type:", "go:"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return !strings.Contains(name, ".") // assembly that belongs to no package, as memeqbody
}
