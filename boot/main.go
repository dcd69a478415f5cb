//go:build tamago

// Package main boots sonde. This file and early_tamago.go show the order:
//
//	pvhentry    entry_amd64.s      the loader's jump; long mode
//	early       early_tamago.go    memory, traps, clock, CPUs; no runtime yet
//	rt0_go      the Go runtime
//	main        below              symbols, files, probes, devices, shell
package main

import (
	"io"
	"math"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/boot/cmdline"
	"sonde/boot/handoff"
	"sonde/internal/exitcode"
	"sonde/kallsyms"
	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/cpu/percpu"
	"sonde/kernel/irq"
	"sonde/kernel/kthread"
	"sonde/kernel/mm"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
	"sonde/kernel/vfs"
	"sonde/shell"
)

// symtab is the address and size of the symbol table in the image, set by the build. It is not
// zero, so that it is in the file.
var symtab = [2]uint64{1, 0}

// initramfs is the same for the archive of our own programs.
var initramfs = [2]uint64{1, 0}

func main() {
	stage(stageGo)
	limitMemory()
	banner()
	reportConsoles()
	findFirmware()
	loadSymbols()
	showCode()
	setWallClock()
	mountFiles(vfs.Root)
	mountDevices(vfs.Root)
	unpackFiles(vfs.Root)
	report("commands", linkCommands(vfs.Root))
	stage(stageFiles)
	if on, _ := cmdline.Get(commandLine(), "nmi_watchdog"); on != "0" {
		irq.AllowNMI(&acpiInfo.MADT)
	}
	percpu.Init(unsafe.Pointer(areas[0].CPU), cpu.Num())
	startProbes()
	startPrograms()
	stage(stageProbes)
	keymap, ok := cmdline.Get(commandLine(), "keymap")
	if !ok {
		keymap = "us"
	}
	report("console", console.Init(&acpiInfo.MADT, keymap))
	stage(stageConsole)
	startUSB()
	startAgent()
	if script, ok := cmdline.Script(commandLine()); ok {
		if wait, ok := cmdline.Get(commandLine(), "show"); ok {
			showScript(script, wait)
		} else {
			runScript(script)
		}
	}
	kthread.RunCritical("shell", interact)
	select {}
}

// limitMemory makes the garbage collector work harder before memory runs out, and an endless
// recursion end before the heap is full. There may be as many threads as fit into memory: the
// runtime's own limit would end the kernel earlier.
func limitMemory() {
	const gigabyte = 1 << 30
	mm.LimitHeap(0)
	debug.SetMaxThreads(math.MaxInt32)
	debug.SetMaxStack(int(min(mm.Usable/8, gigabyte/2)))
}

// shortened is a line for the log: with a script in it, it may have thousands of bytes.
func shortened(line string) string {
	const most = 200
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + " ... (the rest is in /proc/cmdline)"
}

func banner() {
	hz, ref := cpu.TSC()
	cpus := "1 CPU"
	if n := cpu.Num(); n > 1 {
		cpus = strconv.Itoa(n) + " CPUs"
	}
	printk.Info("sonde %s (%s) booting on %s, %d MiB", version, runtime.Version(), cpus, mm.RAM>>20)
	printk.Info("Command line: %s", shortened(commandLine()))
	if loader.Truncated {
		printk.Warn("boot: the loader gave more than the kernel keeps: %d ranges of memory, %d modules, %d bytes of command line; the rest is not used",
			handoff.MaxRegions, handoff.MaxModules, handoff.MaxCmdline)
	}
	printk.Info("tsc: %d.%03d MHz, measured against the %s", hz/1e6, hz/1e3%1e3, ref)
	tellRecorder()
	if failedAPs > 0 {
		why := ""
		if noLowPage {
			why = ": no memory below 1 MiB is free to start in"
		}
		printk.Err("smp: %d CPUs did not start%s", failedAPs, why)
	}
	if testedPages > 0 {
		printk.Info("memtest: %d MiB hold what is written to them, %d MiB do not and are left out",
			(testedPages-wrongPages)*hugePage>>20, wrongPages*hugePage>>20)
	}
	if untabled > 0 {
		printk.Warn("memory: %d MiB are not used: there are page tables for %d MiB", untabled>>20, mm.Usable>>20)
	}
	if spareAPs > 0 {
		printk.Warn("smp: %d CPUs are not used: there is room for %d", spareAPs, trap.MaxCPUs)
	}
	if level, ok := cmdline.Get(commandLine(), "loglevel"); ok && len(level) == 1 {
		printk.SetConsoleLevel(int(level[0] - '0'))
	} else if _, ok := cmdline.Get(commandLine(), "quiet"); ok {
		printk.SetConsoleLevel(int(printk.LevelWarning))
	}
}

func loadSymbols() {
	// Safe because: the build put the table there and boot mapped it read-only.
	blob := unsafe.Slice((*byte)(unsafe.Pointer(uintptr(symtab[0]))), symtab[1])
	t, err := kallsyms.Load(blob)
	if err != nil {
		printk.Err("kallsyms: %s", err.Error())
		return
	}
	kallsyms.SetKernel(t)
}

// runScript runs the commands after "--" and ends the machine with the status
// of the last. It does not return.
func runScript(script string) {
	var s *shell.Shell
	if console.HasPipe() {
		s = newShell(new(console.Pipe))
	} else {
		s = newShell(new(console.Output))
	}
	s.Controlling = console.TTY
	go typed()
	done := kthread.RunCritical("script", func() { s.Run(script); s.HangUp() })
	<-done.Done()
	printk.Flush()
	power.Exit(exitcode.ForScript(s.Status()))
}

// typed passes what is typed while a script runs to those that read /dev/console.
func typed() {
	buf := make([]byte, 256)
	for {
		n, _ := console.Input{}.Read(buf)
		console.TTY.Input(buf[:n])
	}
}

// showScript runs the commands after "--" for someone without a keyboard: it shows the output page
// by page on the terminal, waits the given number of seconds after each, and then shows the prompt.
func showScript(script, seconds string) {
	wait, err := strconv.Atoi(seconds)
	if err != nil || wait < 0 {
		wait = 5
	}
	columns, rows := screen.Main.Size()
	if !screen.Main.On() {
		columns, rows = 80, 24
	}
	s := newShell(&shell.Paged{Out: new(console.Output), Rows: rows - 1, Columns: columns, Wait: func() { time.Sleep(time.Duration(wait) * time.Second) }})
	done := kthread.RunCritical("script", func() { s.Run(script); s.HangUp() })
	<-done.Done()
}

// noKeyboard is the text before the first prompt if there is a screen and no keyboard.
const noKeyboard = `There is no keyboard: no PS/2 controller answers, the firmware imitates none, and there is none at a USB port of
the kind xHCI. To type, plug in a USB keyboard, or connect a serial line: the first port, 115200 baud, 8N1. Without
either, start again and choose in GRUB's menu "run the checks and show them" or "no keyboard"; or press e there, and
write commands of your own after sonde.elf: show=5 -- COMMAND \; COMMAND. They are shown page by page, five seconds each.
`

// hint is the text before the first prompt, and before noKeyboard.
const hint = "help lists the commands; Tab completes what you type.\n"

// try is a line that shows something, if there is its command.
const try = "funccount -c 'cat /proc/version' 'vfs.*'"

// sizeTerminal takes the size of the terminal from the command line, where the launcher puts it. ^L
// asks the terminal itself.
func sizeTerminal() {
	size := console.TTY.Winsize()
	for name, to := range map[string]*uint16{"rows": &size.Rows, "columns": &size.Cols} {
		if text, ok := cmdline.Get(commandLine(), name); ok {
			if n, err := strconv.ParseUint(text, 10, 16); err == nil && n > 0 {
				*to = uint16(n)
			}
		}
	}
	console.TTY.SetWinsize(size)
}

// interact runs the shell on the serial line, again after each ^D.
func interact() {
	out := new(console.Output)
	s := newShell(out)
	sizeTerminal()
	printk.Info("boot: shell after %d ms", time.Duration(cpu.Nanotime()).Milliseconds())
	s.Terminal = console.TTY
	if value, ok := cmdline.Get(commandLine(), "NO_COLOR"); ok {
		report("NO_COLOR", s.Export("NO_COLOR", value))
	}
	hasKeyboard := settleUSB() || !console.LacksKeyboard()
	io.WriteString(out, hint)
	if s.Has(strings.Fields(try)[0]) {
		io.WriteString(out, "Try: "+try+"\n")
	}
	if !hasKeyboard {
		io.WriteString(out, noKeyboard)
	}
	t := shell.NewSession(s, console.Input{}, out)
	for t.Run() == nil {
	}
}
