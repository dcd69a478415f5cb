package kprobes_test

import (
	"errors"
	"reflect"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/kprobes"
)

// Count how often a function is called. A probe counts for itself: the handler
// may be nil.
func ExampleRegisterKprobe() {
	k := &kprobes.Kprobe{SymbolName: "sonde/kernel/vfs.Read"}
	if err := kprobes.RegisterKprobe(k); err != nil {
		printk.Err("%s", err.Error())
		return
	}
	vfs.ReadFile("/proc/version")
	kprobes.UnregisterKprobe(k)
	printk.Info("%d hits, %d missed", k.Hits(), k.NMissed())
}

// See the registers before the instruction and after it.
func ExampleKprobe() {
	k := &kprobes.Kprobe{
		SymbolName: "sonde/kernel/vfs.Read",
		PreHandler: func(k *kprobes.Kprobe, r *amd64.Regs) int {
			printk.Info("at %#x, SP %#x, first argument %#x", k.Addr, r.SP, r.AX)
			return 0
		},
		PostHandler: func(k *kprobes.Kprobe, r *amd64.Regs, _ uint64) {
			printk.Info("went on to %#x", r.IP)
		},
	}
	if err := kprobes.RegisterKprobe(k); err == nil {
		defer kprobes.UnregisterKprobe(k)
	}
	vfs.ReadFile("/proc/version")
}

// Replace a function by another of the same signature, to fix a bug, say: the
// handler takes over by changing IP and returning non-zero.
func ExamplePreHandler() {
	fixed := func(f *vfs.File, p []byte, _ vfs.Waiter) (int, error) { return 0, syscall.EIO }
	entry := uint64(reflect.ValueOf(fixed).Pointer())
	k := &kprobes.Kprobe{
		SymbolName: "sonde/kernel/vfs.Read",
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int { r.IP = entry; return 1 },
	}
	if err := kprobes.RegisterKprobe(k); err == nil {
		defer kprobes.UnregisterKprobe(k)
	}
	_, err := vfs.ReadFile("/proc/version")
	printk.Info("%s", err.Error()) // … input/output error
}

// Find the calls that return less than they were asked for. Each call has 8
// bytes of its own, in which the entry handler leaves the argument for the
// return handler.
func ExampleRegisterKretprobe() {
	asked := func(ri *kprobes.KretprobeInstance) *uint64 { return (*uint64)(unsafe.Pointer(&ri.Data[0])) }
	rp := &kprobes.Kretprobe{
		EntryHandler: func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
			*asked(ri) = r.CX // the length of the slice, after the file and the slice's address
			return 0          // non-zero: leave this call alone
		},
		Handler: func(ri *kprobes.KretprobeInstance, r *amd64.Regs) int {
			if n := kprobes.RegsReturnValue(r); n < *asked(ri) {
				printk.Info("goroutine %d: read %d bytes of %d", ri.Task, n, *asked(ri))
			}
			return 0
		},
		DataSize:  8,
		MaxActive: 20,
	}
	rp.KP.SymbolName = "sonde/kernel/vfs.Read"
	if err := kprobes.RegisterKretprobe(rp); err != nil {
		printk.Err("%s", err.Error())
		return
	}
	vfs.ReadFile("/proc/version")
	kprobes.UnregisterKretprobe(rp)
	printk.Info("%d calls missed", rp.NMissed())
}

// See a function's arguments as its own code does. A handler whose signature is
// not that of the function does not compile.
func ExampleNewJprobe() {
	j := kprobes.NewJprobe(vfs.Read, func(f *vfs.File, p []byte, _ vfs.Waiter) (int, error) {
		printk.Info("read of up to %d bytes", len(p))
		kprobes.JprobeReturn() // always the last
		return 0, nil
	})
	if err := kprobes.RegisterJprobe(j); err == nil {
		defer kprobes.UnregisterJprobe(j)
	}
	vfs.ReadFile("/proc/version")
}

// Register a group, all or none of it, and tell errors apart.
func ExampleRegisterKprobes() {
	group := []*kprobes.Kprobe{{SymbolName: "sonde/kernel/vfs.Open"}, {SymbolName: "sonde/kernel/vfs.Raed"}}
	switch err := kprobes.RegisterKprobes(group); {
	case errors.Is(err, syscall.ENOENT):
		printk.Info("%s", err.Error()) // there is no symbol … (did you mean …)
	case err == nil:
		kprobes.UnregisterKprobes(group)
	}
}
