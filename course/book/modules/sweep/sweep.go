//go:build tamago

// Package sweep probes each instruction of one function in turn, and compares what it returns: chapter 14.
package sweep

import (
	"errors"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	harm string
	n    = 9_030_571
	hit  int // in this call
)

func init() {
	module.Register(&module.Module{
		Name:   "sweep",
		Doc:    "probe each instruction of a function, and compare: harm=none, harm=ax, harm=flags",
		Params: module.Params{"harm": module.String(&harm, "what a handler changes at its first hit"), "n": module.Int(&n, "what is given to the function")},
		Init:   start,
		Exit:   func() {},
	})
}

// work returns a sum over the decimal digits of n: of the squares of those above 4, and of the others.
//
//go:noinline
func work(n uint64) (sum uint64) {
	for n > 0 {
		if d := n % 10; d > 4 {
			sum += d * d
		} else {
			sum += d
		}
		n /= 10
	}
	return sum
}

// defect is a handler that breaks what it is told to, once.
func defect(_ *kprobes.Kprobe, regs *amd64.Regs) int {
	if hit++; hit > 1 {
		return 0
	}
	switch harm {
	case "ax":
		regs.AX ^= 1
	case "flags":
		regs.Flags ^= amd64.RFLAGS_ZF | amd64.RFLAGS_CF
	}
	return 0
}

func start() error {
	want := work(uint64(n))
	probed, reached, differ := 0, 0, 0
	for at := uintptr(0); ; at++ {
		p := &kprobes.Kprobe{SymbolName: "sonde/course/book/modules/sweep.work", Offset: at, PreHandler: defect}
		err := kprobes.RegisterKprobe(p)
		if errors.Is(err, syscall.EILSEQ) {
			continue // not where an instruction begins
		}
		if err != nil {
			break // behind the function
		}
		hit = 0
		got := work(uint64(n))
		kprobes.UnregisterKprobe(p)
		if probed++; hit > 0 {
			reached++
		}
		if got != want {
			differ++
		}
	}
	printk.Info("sweep: %d instructions probed, %d reached, %d results differ", probed, reached, differ)
	return nil
}
