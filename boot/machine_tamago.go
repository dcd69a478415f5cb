//go:build tamago

package main

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/kprobes/control"
	"sonde/shell"

	"github.com/usbarmory/tamago/soc/intel/rtc"
)

// What is left for boot to tell: the version, the command line, the time of day,
// and how the machine is turned off.

const version = "0.1"

// setWallClock reads the real-time clock. A machine without one answers with
// nonsense; the wall clock then starts at the epoch.
func setWallClock() {
	clock := rtc.RTC{Location: time.UTC}
	for range 100 {
		now, err := clock.Now()
		if err != nil { // an update is in progress
			time.Sleep(time.Millisecond)
			continue
		}
		if now.Year() < 2020 || now.Year() > 2200 {
			break
		}
		cpu.SetWallClock(now.UnixNano() - cpu.Nanotime())
		return
	}
	printk.Warn("rtc: no usable clock, the time is not known")
}

func mountFiles(tree *vfs.FS) {
	src := procfs.Machine()
	src.Version = func() string { return fmt.Sprintf("sonde version %s (%s)", version, runtime.Version()) }
	src.Cmdline = commandLine
	if err := procfs.Mount(tree, src); err != nil {
		printk.Err("procfs: %s", err.Error())
	}
	if err := control.Mount(tree, "/sys/kernel/debug/kprobes"); err != nil {
		printk.Err("kprobes: %s", err.Error())
	}
}

func newShell(out io.Writer) *shell.Shell {
	s := shell.New(&shell.Machine{
		Uname: func() shell.Uname {
			return shell.Uname{System: "sonde", Node: "sonde", Release: version, Version: runtime.Version(), Machine: "x86_64"}
		},
		Uptime: func() time.Duration { return time.Duration(cpu.Nanotime()) },
		Now:    time.Now, CPUs: procfs.CPUs, Memory: procfs.MemoryNow,
		Poweroff: func() error { printk.Notice("reboot: Power down"); printk.Flush(); power.Off(); return nil },
		Reboot:   func() error { printk.Notice("reboot: Restarting system"); printk.Flush(); power.Reboot(); return nil },
	}, out)
	s.Symbols = func(prefix string) []string { return kallsyms.Kernel().Complete(prefix, 100) }
	return s
}
