//go:build tamago

// Package lab8 measures how long the functions of a package wait.
package lab8

import (
	"sync/atomic"

	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/stack"
	"sonde/probe/attach"
)

var (
	pattern   = "load.*"
	link      *attach.Link
	functions []kallsyms.Symbol // in the order of their addresses
	waited    []atomic.Int64    // ns, by function
)

func init() {
	module.Register(&module.Module{
		Name:   "lab8",
		Doc:    "measure how long functions wait: of=load.*",
		Params: module.Params{"of": module.String(&pattern, "the functions")},
		Init:   start,
		Exit:   stop,
	})
}

// parks is called when a goroutine stops running. It looks for the function that waits.
func parks(h *attach.Hit) bool {
	var calls [12]uintptr
	for _, pc := range calls[:stack.Callers(h.Regs, calls[:])] {
		if at := function(uint64(pc) - 1); at >= 0 {
			h.Data[0], h.Data[1] = uint64(at), uint64(cpu.Nanotime())
			return true
		}
	}
	return false
}

// function returns the index of the function that has an address, or -1.
func function(addr uint64) int {
	low, high := 0, len(functions)
	for low < high {
		if middle := (low + high) / 2; functions[middle].Addr+functions[middle].Size <= addr {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == len(functions) || functions[low].Addr > addr {
		return -1
	}
	return low
}

// goesOn is called when it runs again, perhaps on another CPU.
func goesOn(h *attach.Hit) {
	waited[h.Data[0]].Add(cpu.Nanotime() - int64(h.Data[1]))
}

func start() (err error) {
	functions = kallsyms.Kernel().Functions(pattern)
	waited = make([]atomic.Int64, len(functions))
	link, err = attach.AttachTo(goesOn, &attach.Options{Entry: parks, Data: 2}, "ret:runtime.gopark")
	return err
}

func stop() {
	link.Close()
	for i := range waited {
		if ns := waited[i].Load(); ns > 0 {
			printk.Info("lab8: %s %d", functions[i].Name, ns)
		}
	}
}
