//go:build tamago

package examples

import (
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/kprobes"
)

// jprobe_example: print the arguments of vfs.Read. A jprobe's handler gets the arguments of
// the probed function.
type jprobeExample struct{ probe *kprobes.Jprobe }

func init() {
	module.Register(&module.Module{
		Name: "jprobe_example",
		Doc:  "print the arguments of vfs.Read",
		New: func(string) *module.Instance {
			e := new(jprobeExample)
			return &module.Instance{Init: e.init, Exit: e.exit}
		},
	})
}

// jvfsRead has the same arguments as vfs.Read.
func jvfsRead(f *vfs.File, p []byte, _ vfs.Waiter) (int, error) {
	printk.Info("jprobe: file=%p, buf=%p, len=%d", f, &p[0], len(p))
	// Always end with a call to JprobeReturn.
	kprobes.JprobeReturn()
	return 0, nil
}

func (e *jprobeExample) init() error {
	e.probe = kprobes.NewJprobe(vfs.Read, jvfsRead)
	if err := kprobes.RegisterJprobe(e.probe); err != nil {
		printk.Info("register_jprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("Planted jprobe at 0x%x, handler addr %p", e.probe.KP.Addr, e.probe.Entry)
	return nil
}

func (e *jprobeExample) exit() {
	kprobes.UnregisterJprobe(e.probe)
	printk.Info("jprobe unregistered")
}
