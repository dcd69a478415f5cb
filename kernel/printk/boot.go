package printk

// Boot gives the log its time, in ns since boot, the number of the running CPU, and where messages are
// shown, and shows those that were logged before. There is no heap yet: the functions are in variables
// of the caller, which must stay. They must be fit for trap context; console gets one whole line at a
// time, ended by "\n", never two at once, and must not keep p.
//
// Context: boot.
func Boot(clock *func() int64, cpu *func() int, console *func(p []byte)) {
	clockHook.Store(clock)
	cpuHook.Store(cpu)
	consoleHook.Store(console)
	emit(0)
}
