//go:build tamago

package space

import (
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
)

// What programs may have, as far as the kernel is not there: nothing near the nil
// address, and not the last page of the lower half, behind which SYSRET faults.
const (
	lowest  = 64 << 10
	highest = 1<<47 - PageSize
	// floor is where the kernel's mappings begin that programs share: what is below
	// was for the boot.
	floor = 2 << 20
)

// ThisMachine returns a Machine for spaces that share the kernel's mappings. Boot makes
// Kernel of it; what tells CPUs of changes is not set.
//
// Context: goroutine.
func ThisMachine() *Machine {
	m := &Machine{Frames: frame.Kernel, RAM: mm.Usable, SpareTables: 32}
	for _, w := range mm.Tables.Windows(lowest, floor, highest) {
		m.Windows = append(m.Windows, Window(w))
	}
	m.KernelHalf = func(root *[512]uint64, table func() (*[512]uint64, uint64, error)) error {
		return mm.Tables.ShareWith(root, floor, table)
	}
	return m
}

// Init makes Kernel. shootdown returns when no CPU is in ring 3 with what it knew
// before of the tables at root; retire when none has root in CR3.
//
// Context: boot, once.
func Init(shootdown, retire func(root uint64)) {
	m := ThisMachine()
	m.Shootdown = func(s *Space, _, _ uint64, tables bool) {
		shootdown(s.Root())
		if tables {
			// A CPU in the kernel may still have the tables in CR3, and reads
			// ahead. It loads them anew before it goes back to ring 3.
			retire(s.Root())
		}
	}
	m.Retire = func(s *Space) { retire(s.Root()) }
	Kernel = m
}
