//go:build tamago

// Package careless has a handler that follows a wrong pointer: chapter 3 shows what becomes of it.
package careless

import (
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
)

var (
	symbol = "vfs.Read"
	wrong  = uintptr(8)
	probe  *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "careless",
		Doc:    "a handler that follows a wrong pointer",
		Params: module.Params{"symbol": module.String(&symbol, "function to probe")},
		Init:   start,
		Exit:   func() { kprobes.UnregisterKprobe(probe) },
	})
}

func follow(*kprobes.Kprobe, *amd64.Regs) int {
	return int(**(**byte)(unsafe.Pointer(&wrong)))
}

func start() error {
	probe = &kprobes.Kprobe{SymbolName: symbol, PreHandler: follow}
	return kprobes.RegisterKprobe(probe)
}
