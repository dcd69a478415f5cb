//go:build !tamago

package kbpf

// What maps need of the machine, for tests on the host.

func takeRange(n int) ([]byte, error) { return make([]byte, n), nil }
func giveRange([]byte)                {}

func cpus() int { return 4 }

//go:nosplit
func irqOff() uint64 { return 0 }

//go:nosplit
func irqRestore(uint64) {}

func synchronize() {}
