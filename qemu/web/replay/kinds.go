package replay

import (
	"embed"
	"fmt"
)

// A Kind is a recording that lies in the tree, one of each kind of hit. TestRecordingsAreOfThisKernel makes them.
type Kind struct {
	Name, Title string
	About       string
	Script      string // what makes it at the prompt
}

// Kinds are all of them.
var Kinds = []Kind{
	{"step", "A single step", "The probe has a handler after the instruction, so the kernel must be back in time: it has the CPU execute one instruction in a slot and trap again.",
		"glass -t step -j vfs.Read cat /proc/version"},
	{"boost", "A boosted breakpoint", "No handler follows, so the copy in the slot needs no second trap: a jump after it leads back. Here a second probe, the cc at +0xb, shows where the code continues.",
		"glass -t boost -w -j vfs.Read+0xa cat /proc/version"},
	{"emulated", "An emulated instruction", "A call cannot be executed elsewhere: the return address that it pushes would be wrong. The kernel does what the call does on the saved registers instead.",
		"glass -t int3 -j 'vfs.(*File).Read+0x21' cat /proc/version"},
	{"jump", "A jump instead of a breakpoint", "There is no trap. Five bytes are a jump to a detour, which saves the registers, calls the handler, and executes copies of what the jump has replaced.",
		"glass -t jump -j vfs.Read cat /proc/version"},
	{"return", "A return probe", "At the entry, the return address on the stack is replaced by that of a trampoline. The function returns there; the return handler sees the results; then the call goes back to its caller.",
		"glass -t return -j vfs.Read cat /proc/version"},
	{"jprobe", "A jprobe", "The handler is a function with the same arguments as the probed one. It gets a copy of them, and ends by JprobeReturn.",
		"glass -t jprobe -j vfs.Read cat /proc/version"},
	{"nested", "A hit inside a handler", "The handler calls a function that has a probe, too. Handlers are not called within handlers: the inner hit is counted as missed.",
		"sysctl -w debug.kprobes-optimization=0; insmod kprobe_example name=outer symbol=vfs.Read post=0; insmod kprobe_example name=inner symbol=die.DumpStack post=0; glass -t int3 -j vfs.Read cat /proc/version; rmmod outer; rmmod inner; sysctl -w debug.kprobes-optimization=1"},
	{"abandoned", "An abandoned handler", "The handler sends to a channel, which may block, and no handler may. It is abandoned where it did so, its probe is disabled, and the interrupted code goes on. The module is in the kernel that has its tests: -test.",
		"sysctl -w debug.kprobes-optimization=0; insmod faulty; glass -t int3 -n 1 -j vfs.Read cat /proc/version; rmmod faulty; sysctl -w debug.kprobes-optimization=1"},
	{"user", "A probe in a program", "The breakpoint is in a Linux program in ring 3. Its handler may block, so it runs in the goroutine of the program's thread, not in the trap. The copy of the instruction is in the program's own memory.",
		"insmod uprobe_example path=/bin/myprog symbol=myfunc verbose=0; echo myprog:myfunc > /sys/kernel/debug/glass/new; myprog -n 3; cat /sys/kernel/debug/glass/1; rmmod uprobe_example"},
	{"watch", "A watchpoint", "No code is changed: a debug register of the CPU watches a variable. The trap comes after the instruction that has written it.",
		"glass -n 1 -j w@printk.consoleLevel dmesg -n 5"},
	{"way", "From a breakpoint to a jump, and back", "What the CPUs do to each other while five bytes of running code become another instruction: one CPU changes them, and none may be in the midst of them.",
		"glass -o -j vfs.Read"},
}

//go:embed recordings/*.json
var recordings embed.FS

// JSON is what the kernel has printed.
func (k Kind) JSON() []byte {
	b, err := recordings.ReadFile("recordings/" + k.Name + ".json")
	if err != nil {
		panic(fmt.Sprintf("replay: there is no recording of %s", k.Name))
	}
	return b
}
