//go:build tamago

package examples

import (
	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kwatch"
	"sonde/probe/attach/quote"
)

// data_watch_example: print which code writes a variable of the kernel, with its stack. The
// default variable decides which lines of the log reach the console: `dmesg -n 5` writes
// it.
type dataWatch struct {
	symbol   string
	length   int
	register int // the debug register that watches
}

func init() {
	module.Register(&module.Module{
		Name: "data_watch_example",
		Doc:  "print value and stack whenever a variable is written",
		New:  newDataWatch,
	})
}

func newDataWatch(string) *module.Instance {
	w := &dataWatch{symbol: "sonde/kernel/printk.consoleLevel"}
	return &module.Instance{
		Params: module.Params{
			"symbol": module.String(&w.symbol, "variable to watch").From(bare).Given(),
			"length": module.Int(&w.length, "bytes to watch: 1, 2, 4 or 8; 0: what fits").Within(0, 8),
		},
		Init: w.init,
		Exit: w.exit,
	}
}

// written is called just after the variable has been written.
func (w *dataWatch) written(h *kwatch.Hit, regs *amd64.Regs) {
	printk.Info("%s is written: 0x%x -> 0x%x, ip=%x", w.symbol, h.Old, h.New, h.IP)
	die.DumpStack(regs)
}

func (w *dataWatch) init() error {
	reg, err := kwatch.RegisterKwatchSymbol(w.symbol, 0, w.length, kwatch.Write, w.written)
	if err != nil {
		printk.Info("register_kwatch failed, returned %d", returned(err))
		return err
	}
	w.register = reg
	printk.Info("Watch point for %s registered in debug register %d", w.symbol, reg)
	return nil
}

func (w *dataWatch) exit() {
	if err := kwatch.UnregisterKwatch(w.register); err != nil {
		printk.Info("unregister_kwatch failed, returned %d", returned(err))
		return
	}
	printk.Info("Watch point for %s unregistered", w.symbol)
}

// bare returns a name without the quotes that lists have around some.
func bare(_, name string) string {
	if value, rest, quoted := quote.Prefix(name); quoted && rest == "" {
		return value
	}
	return name
}
