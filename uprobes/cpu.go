package uprobes

import "sonde/linux/space"

// Bases returns the program's FS and GS.
func (th *thread) Bases() (fs, gs *uint64) { return th.t.CPU().Bases() }

// Load reads the 8 bytes at addr.
func (th *thread) Load(addr uint64) (uint64, error) {
	th.stored = false
	return th.text.mem.LoadWord(addr)
}

// Store writes them.
func (th *thread) Store(addr, v uint64) error {
	th.stored = true
	_, err := th.text.mem.SwapWord(addr, v)
	return err
}

// Writable returns the error that Store would.
func (th *thread) Writable(addr uint64) error {
	th.stored = true
	if err := th.text.mem.Fault(addr, space.Write); err != nil {
		return err
	}
	return th.text.mem.Fault(addr+7, space.Write)
}
