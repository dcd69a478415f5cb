//go:build tamago

package examples

import (
	"errors"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kprobes"
)

// kprobe_example: print the address, ip, flags and stack whenever a function is called. The
// default is a function that every `cat` calls.
var (
	symbol = "sonde/kernel/vfs.Read"
	offset = uint64(0)
	post   = true
	kp     *kprobes.Kprobe
)

func init() {
	module.Register(&module.Module{
		Name: "kprobe_example",
		Doc:  "print registers and stack at an instruction",
		Params: module.Params{
			"symbol": module.String(&symbol, "function to probe").Given(),
			"offset": module.Uint(&offset, "offset in the function, in bytes"),
			"post":   module.Bool(&post, "register a post-handler, too"),
		},
		Init: kprobeInit,
		Exit: kprobeExit,
	})
}

// handlerPre is called just before the probed instruction is executed.
func handlerPre(p *kprobes.Kprobe, regs *amd64.Regs) int {
	printk.Info("pre_handler: p->addr=0x%x, ip=%x, flags=0x%x", p.Addr, regs.IP, regs.Flags)
	die.DumpStack(regs)
	return 0
}

// handlerPost is called after the probed instruction has been executed.
func handlerPost(p *kprobes.Kprobe, regs *amd64.Regs, flags uint64) {
	printk.Info("post_handler: p->addr=0x%x, ip=%x, flags=0x%x", p.Addr, regs.IP, regs.Flags)
}

// handlerFault is called if the instruction or a handler faults. It returns 0 because it
// does not handle the fault.
func handlerFault(p *kprobes.Kprobe, regs *amd64.Regs, trapnr int) int {
	printk.Info("fault_handler: p->addr=0x%x, trap #%d", p.Addr, trapnr)
	return 0
}

func kprobeInit() error {
	kp = &kprobes.Kprobe{
		SymbolName:   symbol,
		Offset:       uintptr(offset),
		PreHandler:   handlerPre,
		FaultHandler: handlerFault,
	}
	if post {
		kp.PostHandler = handlerPost
	}
	if err := kprobes.RegisterKprobe(kp); err != nil {
		printk.Info("register_kprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("kprobe registered: %s+0x%x at 0x%x", symbol, offset, kp.Addr)
	return nil
}

func kprobeExit() {
	kprobes.UnregisterKprobe(kp)
	printk.Info("kprobe unregistered")
}

// returned is the number that the function would have returned in C.
func returned(err error) int {
	var errno syscall.Errno
	errors.As(err, &errno)
	return -int(errno)
}
