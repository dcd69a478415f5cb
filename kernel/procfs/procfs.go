// Package procfs puts /proc and /sys/kernel/debug into a tree of names, in the formats of
// Linux, so that users find what they know.
//
// The contents come from the functions of a Sources; Machine returns those of this machine.
// A file whose function is missing is not made.
package procfs

import (
	"io"
	"time"

	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
)

// Sources are the facts that /proc shows. All functions are called in goroutine
// context, whenever a file is opened.
type Sources struct {
	Version    func() string                   // one line
	Cmdline    func() string                   // one line
	Uptime     func() (up, idle time.Duration) // idle is summed over all CPUs
	Memory     func() Memory                   // for meminfo
	CPUs       func() []CPU                    // for cpuinfo
	Loadavg    func() Load                     // of the last 1, 5 and 15 minutes
	Stat       func() Stat                     // for stat
	Interrupts func() []Interrupt              // for interrupts
	Iomem      func(w io.Writer)               // prints the whole file
	Ioports    func(w io.Writer)               // likewise
	Kallsyms   func(w io.Writer)               // likewise
	SymbolsInC func(w io.Writer)               // the same for programs, if there is Kallsyms
	Extra      map[string]func(w io.Writer)    // further files by path below /proc
}

// Mount binds /proc and makes /sys/kernel/debug in a tree.
//
// Errors: EEXIST when something is there already (wrapped with the path).
func Mount(tree *vfs.FS, src Sources) error {
	files := map[string]vfs.Node{
		"modules":     ctl.Text(module.ProcModules),
		"sys":         sysDir(""),
		"mounts":      ctl.Print(func(w io.Writer) { Mounts(w, tree) }),
		"filesystems": ctl.Print(filesystems),
		"config.gz":   ctl.Text(configGZ),
	}
	if f := src.Version; f != nil {
		files["version"] = ctl.Text(func() string { return f() + "\n" })
	}
	if f := src.Cmdline; f != nil {
		files["cmdline"] = ctl.Text(func() string { return f() + "\n" })
	}
	if f := src.Uptime; f != nil {
		files["uptime"] = ctl.Text(func() string { return uptime(f()) })
	}
	if f := src.Memory; f != nil {
		files["meminfo"] = ctl.Text(func() string { return f().meminfo() })
	}
	if f := src.CPUs; f != nil {
		files["cpuinfo"] = ctl.Text(func() string { return cpuinfo(f()) })
		if err := tree.Bind("/sys/devices/system/cpu", cpuDir(f)); err != nil {
			return err
		}
	}
	if f := src.Loadavg; f != nil {
		files["loadavg"] = ctl.Text(func() string { return f().loadavg() })
	}
	if f := src.Stat; f != nil {
		files["stat"] = ctl.Text(func() string { return f().stat() })
	}
	if f := src.Interrupts; f != nil {
		files["interrupts"] = ctl.Text(func() string { return interrupts(f()) })
	}
	for name, f := range src.Extra {
		files[name] = ctl.Print(f)
	}
	for name, f := range map[string]func(w io.Writer){"iomem": src.Iomem, "ioports": src.Ioports} {
		if f != nil {
			files[name] = ctl.Print(f)
		}
	}
	if src.Kallsyms != nil {
		files["kallsyms"] = ctl.Viewed{File: ctl.Print(src.Kallsyms), Programs: ctl.Print(src.SymbolsInC)}
	}
	if err := tree.BindAll("/proc", files); err != nil {
		return err
	}
	return tree.MkdirAll("/sys/kernel/debug", 0555)
}
