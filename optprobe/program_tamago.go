//go:build tamago

package optprobe

import (
	"fmt"

	"sonde/arch/amd64/user"
	"sonde/kernel/grace"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/kprobes/fuse"
	"sonde/probe/attach"
)

// For probes of programs: see uprobes/machine.

// Fuses reports whether handlers may be put into the code of breakpoints.
func Fuses() bool { return detour.Fusing.Get() && !detour.Plain.Get() }

// refitPrograms has the probes of programs do what Fuses says.
var refitPrograms = func() {}

// OnFuses has f called when what Fuses returns may have changed.
//
// Context: boot.
func OnFuses(f func()) { refitPrograms = f }

// Stub makes the code of a breakpoint in ring 3: fuse.InProgram. give gives its memory back.
//
// Errors: those of InProgram; it is too long; all memory for detours is in use.
func Stub(h attach.Fuser, ip uint64, count, moves int32) (code uintptr, give func(), err error) {
	head, ok := kprobes.Detours().Take(user.Known())
	if !ok {
		return 0, nil, fmt.Errorf("all %d detours are in use", kprobes.Detours().Used())
	}
	give = func() {
		since := grace.Now()
		kprobes.Detours().Put(head, &since, nil)
	}
	b, err := fuse.InProgram(&fuse.Spec{At: head, General: user.Known(), Count: count, IP: ip, Handler: h}, moves)
	if err == nil && len(b) > detour.Size {
		err = fmt.Errorf("its code takes %d bytes, more than %d", len(b), detour.Size)
	}
	if err != nil {
		give()
		return 0, nil, err
	}
	text.WriteSlot(head, b)
	return head, give, nil
}
