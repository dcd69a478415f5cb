package attach_test

import (
	"sync/atomic"

	"sonde/kernel/printk"
	"sonde/probe/attach"
)

// slow counts the calls that took long.
var slow atomic.Uint64

// begin is called when a call is entered; end, when it returns. Both may be called in a trap, so they
// neither allocate nor lock.
func begin(h *attach.Hit) bool {
	h.Data[0] = h.Regs.AX
	return true
}

func end(h *attach.Hit) {
	if h.Result() != h.Data[0] {
		slow.Add(1)
	}
}

// One handler at the returns of a function of the kernel and of a system call, with a word of memory for
// each call.
func ExampleAttachTo() {
	l, err := attach.AttachTo(end, &attach.Options{Entry: begin, Data: 1, Active: 64}, "ret:vfs.Read", "ret:sys:read")
	if err != nil {
		printk.Err("%s", err.Error())
		return
	}
	defer l.Close()
	for _, p := range l.Places() {
		printk.Info("%s, by %s: %d hits", p.Where, p.Way, p.Ledger.Handled)
	}
}
