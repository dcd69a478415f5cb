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
var myJprobe *kprobes.Jprobe

func init() {
	module.Register(&module.Module{
		Name: "jprobe_example",
		Doc:  "print the arguments of vfs.Read",
		Init: jprobeInit,
		Exit: jprobeExit,
	})
}

// jvfsRead has the same arguments as vfs.Read.
func jvfsRead(f *vfs.File, p []byte) (int, error) {
	printk.Info("jprobe: file=%p, buf=%p, len=%d", f, &p[0], len(p))
	// Always end with a call to JprobeReturn.
	kprobes.JprobeReturn()
	return 0, nil
}

func jprobeInit() error {
	myJprobe = kprobes.NewJprobe(vfs.Read, jvfsRead)
	if err := kprobes.RegisterJprobe(myJprobe); err != nil {
		printk.Info("register_jprobe failed, returned %d", returned(err))
		return err
	}
	printk.Info("Planted jprobe at 0x%x, handler addr %p", myJprobe.KP.Addr, myJprobe.Entry)
	return nil
}

func jprobeExit() {
	kprobes.UnregisterJprobe(myJprobe)
	printk.Info("jprobe unregistered")
}
