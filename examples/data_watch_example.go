//go:build tamago

package examples

import (
	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kwatch"
)

// data_watch_example: print which code writes a variable of the kernel, with its stack. The
// default variable decides which lines of the log reach the console: `dmesg -n 5` writes
// it.
var (
	watched    = "sonde/kernel/printk.consoleLevel"
	watchedLen = 0
	watchReg   int
)

func init() {
	module.Register(&module.Module{
		Name: "data_watch_example",
		Doc:  "print value and stack whenever a variable is written",
		Params: module.Params{
			"symbol": module.String(&watched, "variable to watch").Given(),
			"length": module.Int(&watchedLen, "bytes to watch: 1, 2, 4 or 8; 0: what fits").Within(0, 8),
		},
		Init: watchInit,
		Exit: watchExit,
	})
}

// watchHandler is called just after the variable has been written.
func watchHandler(h *kwatch.Hit, regs *amd64.Regs) {
	printk.Info("%s is written: 0x%x -> 0x%x, ip=%x", watched, h.Old, h.New, h.IP)
	die.DumpStack(regs)
}

func watchInit() error {
	reg, err := kwatch.RegisterKwatchSymbol(watched, 0, watchedLen, kwatch.Write, watchHandler)
	if err != nil {
		printk.Info("register_kwatch failed, returned %d", returned(err))
		return err
	}
	watchReg = reg
	printk.Info("Watch point for %s registered in debug register %d", watched, reg)
	return nil
}

func watchExit() {
	if err := kwatch.UnregisterKwatch(watchReg); err != nil {
		printk.Info("unregister_kwatch failed, returned %d", returned(err))
		return
	}
	printk.Info("Watch point for %s unregistered", watched)
}
