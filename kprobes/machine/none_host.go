//go:build !tamago

package machine

import (
	"syscall"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/refusal"
	"sonde/kernel/text"
)

// On the host there is no kernel to be probed, unless a test has made a machine:
// registering is refused.
func init() {
	This = Machine{
		Code:        func(addr, n uintptr) []byte { return nil },
		Watch:       func() {},
		Watched:     func(uintptr) bool { return false },
		InHandler:   func() bool { return false },
		Forbid:      func(string) {},
		Blacklisted: func(kallsyms.Symbol) string { return "there is no kernel here" },
		NoReturn:    func(kallsyms.Symbol) string { return "" },
		Advise:      func(string, string, uintptr) {},
		Careful:     func(any) bool { return false },
		Swap: func([]text.Patch, func(uintptr) bool) (time.Duration, error) {
			return 0, refusal.New(syscall.ENOSYS, "there is no kernel here")
		},
		Slots:   text.NewPool(0, 0, SlotSize),
		Detours: text.NewPool(0, 0, DetourSize),
		CPUs:    1,
	}
}
