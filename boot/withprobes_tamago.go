//go:build tamago && !noprobe

package main

import (
	_ "sonde/examples"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/kprobes/control"
	"sonde/kprobes/link"
	"sonde/kwatch"
	"sonde/optprobe"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/probe/handler"
	"sonde/probe/program"
	"sonde/probe/tick"
	"sonde/probe/types"
	"sonde/shell"
	"sonde/shell/replay"
	"sonde/trace/tracefs"
)

// startProbes makes the machine able to probe itself.
func startProbes() {
	handler.Init()
	tick.Init()
	for _, k := range []attach.Kind{attach.Tick, attach.Every} {
		attach.Provide(k, tick.Provider{})
	}
	attach.Provide(attach.Event, event.Provider{})
	kprobes.Init()
	for _, k := range []attach.Kind{attach.Kernel, attach.Line, attach.Inline} {
		attach.Provide(k, link.Provider{})
	}
	if err := optprobe.Init(); err != nil {
		printk.Err("%s", err.Error())
	}
	kwatch.Init(kwatch.Others{NoProbe: kprobes.NoProbe, Careful: kprobes.Careful, Moved: kprobes.WatchMoved, Recheck: kprobes.Recheck})
	attach.Provide(attach.Watch, kwatch.Provider{})
	program.Init()
	armProbes()
}

// mountProbeFiles makes the files about probes and what is attached to them.
func mountProbeFiles(tree *vfs.FS) {
	procfs.AddSymbols(program.WriteSymbols)
	report("attach", attach.Mount(tree, "/sys/kernel/debug"))
	for name, mount := range map[string]func(*vfs.FS, string) error{"bpf": program.Mount, "kprobes": control.Mount} {
		report(name, mount(tree, "/sys/kernel/debug/"+name))
	}
	report("types", types.Mount(tree))
	report("tracefs", tracefs.Mount(tree))
	report("bpf", program.MountPins(tree))
	report("glass", replay.Mount(tree, "/sys/kernel/debug/glass", shell.GlassRequest))
}
