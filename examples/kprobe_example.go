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
type kprobeExample struct {
	symbol string
	offset uint64
	post   bool
	kp     *kprobes.Kprobe
}

func init() {
	module.Register(&module.Module{
		Name: "kprobe_example",
		Doc:  "print registers and stack at an instruction",
		New:  newKprobeExample,
	})
}

func newKprobeExample(string) *module.Instance {
	e := &kprobeExample{symbol: "sonde/kernel/vfs.Read", post: true}
	return &module.Instance{
		Params: module.Params{
			"symbol": module.String(&e.symbol, "function to probe").From(bare).Given(),
			"offset": module.Uint(&e.offset, "offset in the function, in bytes"),
			"post":   module.Bool(&e.post, "register a post-handler, too"),
		},
		Init: e.init,
		Exit: e.exit,
	}
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

func (e *kprobeExample) init() error {
	e.kp = &kprobes.Kprobe{
		SymbolName:   e.symbol,
		Offset:       uintptr(e.offset),
		PreHandler:   handlerPre,
		FaultHandler: handlerFault,
	}
	if e.post {
		e.kp.PostHandler = handlerPost
	}
	if err := kprobes.RegisterKprobe(e.kp); err != nil {
		printk.Info("register_kprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("kprobe registered: %s+0x%x at 0x%x", e.symbol, e.offset, e.kp.Addr)
	return nil
}

func (e *kprobeExample) exit() {
	kprobes.UnregisterKprobe(e.kp)
	printk.Info("kprobe unregistered")
}

// returned is the number that the function would have returned in C.
func returned(err error) int {
	var errno syscall.Errno
	errors.As(err, &errno)
	return -int(errno)
}
