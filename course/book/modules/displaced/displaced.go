//go:build tamago

// Package displaced puts a probe on an instruction whose operand is relative to IP, and says what its copy refers
// to: chapter 4.
package displaced

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

var (
	symbol string
	offset uint64
	probe  *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name:   "displaced",
		Doc:    "say what the copy of a probed instruction refers to: symbol= offset=",
		Params: module.Params{"symbol": module.String(&symbol, "function"), "offset": module.Uint(&offset, "bytes into it")},
		Init:   start,
		Exit:   stop,
	})
}

// code is the bytes of an instruction, at most. Safe because: text and slots are mapped for good.
func code(addr uintptr) []byte { return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), insn.MaxLen) }

func start() error {
	slot, _ := kprobes.Slots().Next()
	probe = &kprobes.Kprobe{SymbolName: symbol, Offset: uintptr(offset), PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) {}}
	if err := kprobes.RegisterKprobe(probe); err != nil {
		return err
	}
	if _, owner := kprobes.Slots().Find(slot); owner != probe.Addr {
		kprobes.UnregisterKprobe(probe)
		return errors.New("the instruction has no copy: it is emulated")
	}
	in, err := insn.Decode(code(slot))
	if err != nil || !in.RIPRel {
		kprobes.UnregisterKprobe(probe)
		return errors.New("the instruction has no operand that is relative to IP")
	}
	first := tell("original", probe.Addr, in)
	second := tell("copy", slot, in)
	printk.Info("displaced: the first end minus the second is 0x%x, in 32 bits", uint32(first-second))
	return nil
}

// tell says what the instruction at addr refers to, and returns where it ends.
func tell(which string, addr uintptr, in insn.Inst) (end uintptr) {
	rel := binary.LittleEndian.Uint32(code(addr)[in.DispOff:])
	end = addr + uintptr(in.Len)
	printk.Info("displaced: the %s ends at 0x%x", which, end)
	printk.Info("displaced: plus 0x%x is 0x%x", rel, end+uintptr(int32(rel)))
	return end
}

func stop() {
	kprobes.UnregisterKprobe(probe)
	printk.Info("displaced: %d hits", probe.Hits())
}
