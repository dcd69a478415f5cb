//go:build tamago

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"time"
	"unsafe"

	"sonde/kallsyms"
	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/mm"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kernel/vfs/device"
	archive "sonde/kernel/vfs/initramfs"
	"sonde/shell"

	"github.com/usbarmory/tamago/soc/intel/rtc"
)

// What boot adds to the machine: the version, the command line, the time of day, and turning it
// off.

const version = "0.2"

// setWallClock reads the real-time clock. Without one, the values are invalid, and the wall clock
// starts at the epoch.
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
	printk.Warn("rtc: no usable clock; the time is unknown")
}

// report logs why a part of the machine is not there. The boot continues.
func report(part string, err error) {
	if err != nil {
		printk.Err("%s: %s", part, err.Error())
	}
}

func mountFiles(tree *vfs.FS) {
	tree.SetLimit(int64(mm.Usable / 2))
	src := procfs.Machine()
	src.Version = func() string { return fmt.Sprintf("sonde version %s (%s)", version, runtime.Version()) }
	src.Cmdline = commandLine
	src.Loadavg, src.Stat = loadNow, statNow
	src.Extra = map[string]func(io.Writer){"consoles": console.Show}
	src.Iomem, src.Ioports = showMemory, showPorts
	report("procfs", procfs.Mount(tree, src))
	mountProgramFiles(tree)
	report("firmware", told.Mount(tree))
	mountProbeFiles(tree)
	report("boot", tree.Bind("/sys/kernel/debug/boot", ctl.Print(writeStages)))
	report("layout", tree.Bind("/sys/kernel/debug/layout", ctl.Print(writeLayout)))
	report("command", shell.MountCommand(tree, "/sys/kernel/debug/command", newShell))
}

// mountDevices makes /dev, with the terminal under the names that programs use.
func mountDevices(tree *vfs.FS) {
	err := device.Mount(tree)
	err = errors.Join(err,
		tree.Bind("/dev/tty", tty.Current{Device: &tty.Device{TTY: console.TTY, Major: 5}}),
		tree.Bind("/dev/console", &tty.Device{TTY: console.TTY, Major: 5, Minor: 1}))
	report("dev", err)
}

// unpackFiles unpacks the image's own archive into the tree, then the archives that the loader has
// left in memory.
func unpackFiles(tree *vfs.FS) {
	if initramfs[1] > 0 {
		unpack(tree, mm.Range{Start: uintptr(initramfs[0]), End: uintptr(initramfs[0] + initramfs[1])})
	}
	for i, r := range modules[:loader.NModules] {
		if r.End == 0 {
			printk.Err("initramfs: module %d of %d bytes at %#x cannot be mapped", i, loader.Modules[i].Len, loader.Modules[i].PA)
			continue
		}
		unpack(tree, r)
	}
}

// unpack unpacks the archives at r into the tree.
func unpack(tree *vfs.FS, r mm.Range) {
	// Safe because: boot mapped it read-only, and nothing else uses the memory.
	data := unsafe.Slice((*byte)(unsafe.Pointer(r.Start)), r.End-r.Start)
	done, err := archive.Unpack(tree, data)
	if err != nil {
		printk.Err("%s", err.Error())
		return
	}
	printk.Info("initramfs: %s", done.Describe())
}

// linkCommands gives programs the shell's commands: in /bin, box hands each over that is no program there.
func linkCommands(tree *vfs.FS) error {
	if _, err := tree.Stat("bin/box"); err != nil {
		return nil // no programs of ours
	}
	for _, name := range newShell(io.Discard).Handed() {
		if err := tree.SymlinkAt("box", tree.RootPlace(), "/bin/"+name); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return nil
}

func uptime() time.Duration { return time.Duration(cpu.Nanotime()) }

// commands are added to the shell's own: in images with tests, those that run them.
var commands []*shell.Command

func newShell(out io.Writer) *shell.Shell {
	s := shell.New(&shell.Machine{
		Uname: func() shell.Uname {
			return shell.Uname{System: "sonde", Node: "sonde", Release: version, Version: runtime.Version(), Machine: "x86_64"}
		},
		Uptime: uptime, Programs: shellPrograms(), Running: runningPrograms, Firmware: &told,
		Load: loadNow, Now: time.Now, CPUs: procfs.CPUs, Memory: procfs.MemoryNow,
		Poweroff: func() error { printk.Notice("reboot: Power down"); printk.Flush(); power.Off(); return nil },
		Reboot:   func() error { printk.Notice("reboot: Restarting system"); printk.Flush(); power.Reboot(); return nil },
	}, out)
	s.Register(commands...)
	s.Symbols = func(prefix string) []string { return kallsyms.Kernel().Complete(prefix, 100) }
	return s
}
