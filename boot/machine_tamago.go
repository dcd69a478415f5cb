//go:build tamago

package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/irq"
	"sonde/kernel/mm"
	"sonde/kernel/power"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/shell"

	"github.com/usbarmory/tamago/soc/intel/rtc"
)

// What /proc and the commands know of this machine.

const version = "0.1"

func uptime() time.Duration { return time.Duration(cpu.Nanotime()) }

func idleTime() (sum time.Duration) {
	for i := range cpu.Num() {
		_, _, asleep := grace.Idle(i)
		sum += asleep
	}
	return sum
}

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

func memory() procfs.Memory {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, free := mm.Memory()
	return procfs.Memory{
		Total: mm.Usable,
		Free:  free,
		Heap:  m.HeapInuse,
		Idle:  m.HeapIdle,
		Stack: m.StackInuse,
		Image: uint64(mm.Data.End - mm.Text.Start),
	}
}

func cpus() (all []procfs.CPU) {
	hz, _ := cpu.TSC()
	_, b, c, d := cpu.CPUID(0, 0)
	a, _, _, _ := cpu.CPUID(1, 0)
	model := procfs.CPU{
		Vendor: words(b, d, c), Model: brand(), MHz: float64(hz) / 1e6, Online: true,
		Family: int(a>>8&15 + a>>20&255), ModelID: int(a>>4&15 | a>>12&0xf0), Stepping: int(a & 15),
		Flags: amd64.Features(cpu.CPUID),
	}
	for i := range cpu.Num() {
		one := model
		one.ID, one.APICID = i, int(cpu.APIC(i))
		all = append(all, one)
	}
	return all
}

// brand is CPUID's name of the processor.
func brand() string {
	if max, _, _, _ := cpu.CPUID(0x80000000, 0); max < 0x80000004 {
		return "unknown"
	}
	var s strings.Builder
	for leaf := uint32(0x80000002); leaf <= 0x80000004; leaf++ {
		s.WriteString(words(cpu.CPUID(leaf, 0)))
	}
	return strings.TrimSpace(s.String())
}

// words are registers as text.
func words(regs ...uint32) string {
	var b []byte
	for _, r := range regs {
		b = append(b, byte(r), byte(r>>8), byte(r>>16), byte(r>>24))
	}
	return strings.TrimRight(string(b), "\x00")
}

// interrupts prints what arrived, by vector and CPU, as Linux does.
func interrupts(w io.Writer) {
	io.WriteString(w, "     ")
	for i := range cpu.Num() {
		fmt.Fprintf(w, " %10s", fmt.Sprintf("CPU%d", i))
	}
	io.WriteString(w, "\n")
	for v := 0; v < 256; v++ {
		var line strings.Builder
		any := false
		for i := range cpu.Num() {
			n := trap.Count(i, uint8(v))
			any = any || n > 0
			fmt.Fprintf(&line, " %10d", n)
		}
		if any {
			fmt.Fprintf(w, "%4d:%s  %s\n", v, line.String(), vectorName(uint8(v)))
		}
	}
}

func vectorName(v uint8) string {
	switch v {
	case amd64.VecTimer:
		return "local timer"
	case amd64.VecWake:
		return "wake-up IPI"
	case amd64.VecCall:
		return "function call IPI"
	case amd64.VecStop:
		return "stop machine IPI"
	case amd64.VecSelf:
		return "call on the calling CPU"
	}
	if name := irq.Name(v); name != "" {
		return name
	}
	return amd64.VectorName(v)
}

func mountFiles(tree *vfs.FS) {
	err := procfs.Mount(tree, procfs.Sources{
		Version: func() string { return fmt.Sprintf("sonde version %s (%s)", version, runtime.Version()) },
		Cmdline: commandLine,
		Uptime:  func() (up, idle time.Duration) { return uptime(), idleTime() },
		Memory:  memory, CPUs: cpus, Interrupts: interrupts,
		Kallsyms: func(w io.Writer) { kallsyms.Kernel().WriteTo(w) },
	})
	if err != nil {
		printk.Err("procfs: %s", err.Error())
	}
	if err := kprobes.Mount(tree, "/sys/kernel/debug/kprobes"); err != nil {
		printk.Err("kprobes: %s", err.Error())
	}
}

func newShell(out io.Writer) *shell.Shell {
	s := shell.New(&shell.Machine{
		Uname: func() shell.Uname {
			return shell.Uname{System: "sonde", Node: "sonde", Release: version, Version: runtime.Version(), Machine: "x86_64"}
		},
		Uptime: uptime, Now: time.Now, CPUs: cpus, Memory: memory,
		Poweroff: func() error { printk.Notice("reboot: Power down"); printk.Flush(); power.Off(); return nil },
		Reboot:   func() error { printk.Notice("reboot: Restarting system"); printk.Flush(); power.Reboot(); return nil },
	}, out)
	s.Symbols = func(prefix string) []string { return kallsyms.Kernel().Complete(prefix, 100) }
	return s
}
