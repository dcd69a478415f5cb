package printk

// Boot is SetClock, SetCPU and SetConsole for a kernel that has no heap yet: the functions
// are in variables of the caller, which must stay.
//
// Context: boot.
func Boot(clock *func() int64, cpu *func() int, console *func(p []byte)) {
	clockHook.Store(clock)
	cpuHook.Store(cpu)
	consoleHook.Store(console)
	emit(0)
}
