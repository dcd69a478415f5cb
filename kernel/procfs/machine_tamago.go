//go:build tamago

package procfs

import (
	"io"
	"runtime"
	"strconv"
	"strings"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/irq"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
	"sonde/kernel/vfs"
)

// Machine returns the facts of the machine this runs on. Version and Cmdline are
// boot's to add.
func Machine() Sources {
	return Sources{
		Uptime: Uptime, Memory: MemoryNow, CPUs: CPUs, Interrupts: Interrupts,
		Kallsyms: func(w io.Writer) {
			kallsyms.Kernel().WriteTo(w)
			writeMade(w)
			kallsyms.Kernel().WriteAliases(w)
		},
		SymbolsInC: func(w io.Writer) {
			kallsyms.Kernel().WriteC(w)
			writeMade(w)
		},
	}
}

// made print the symbols of code that is made while the kernel runs.
var made []func(w io.Writer)

// AddSymbols has /proc/kallsyms print what f prints, after the symbols of the image.
//
// Context: boot.
func AddSymbols(f func(w io.Writer)) { made = append(made, f) }

func writeMade(w io.Writer) {
	for _, f := range made {
		f(w)
	}
}

// Uptime returns the time since boot, and how long the CPUs have been idle in all.
func Uptime() (up, idle time.Duration) {
	for i := range cpu.Num() {
		_, _, asleep := grace.Idle(i)
		idle += asleep
	}
	return time.Duration(cpu.Nanotime()), idle
}

// StatNow returns what /proc/stat shows of the machine; what of it is about programs, the
// caller adds.
func StatNow() Stat {
	s := Stat{Up: time.Duration(cpu.Nanotime())}
	for _, n := range grace.Now() {
		s.Switches += n
	}
	s.Boot = time.Now().Add(-s.Up)
	for i := range cpu.Num() {
		_, _, asleep := grace.Idle(i)
		s.Idle = append(s.Idle, asleep)
	}
	for _, one := range Interrupts() {
		for _, n := range one.Counts {
			s.Interrupts += n
		}
	}
	return s
}

// MemoryNow returns what /proc/meminfo shows.
func MemoryNow() Memory {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	_, free := mm.Memory()
	frames := frame.Kernel.Stats()
	return Memory{
		Total:  mm.Usable,
		Free:   free + uint64(frames.Free)*frame.Size,
		Heap:   m.HeapInuse,
		Idle:   m.HeapIdle,
		Stack:  m.StackInuse,
		Image:  uint64(mm.Data.End - mm.Text.Start),
		Frames: uint64(frames.Used) * frame.Size,
		Files:  uint64(vfs.Root.Frames()) * frame.Size,
	}
}

// CPUs returns the processors that run, which are taken to be alike.
func CPUs() (all []CPU) {
	hz, _ := cpu.TSC()
	p := amd64.Identify(cpu.CPUID)
	const osxsave = 1 << 27 // a copy of what package user has set in CR4
	_, _, leaf1, _ := cpu.CPUID(1, 0)
	flags := amd64.Usable(amd64.Features(cpu.CPUID), leaf1&osxsave != 0)
	for i := range cpu.Num() {
		all = append(all, CPU{
			ID: i, APICID: int(cpu.APIC(i)), Online: true, MHz: float64(hz) / 1e6,
			Vendor: p.Vendor, Model: p.Brand, Family: p.Family, ModelID: p.Model, Stepping: p.Stepping,
			Flags: flags,
		})
	}
	return all
}

// calls are the interrupts by which CPUs, and their own timers, call; with the names of Linux
// where it has them.
var calls = []struct {
	vector     uint8
	name, what string
}{
	{amd64.VEC_NMI, "NMI", "Non-maskable interrupts"},
	{amd64.VecTimer, "LOC", "Local timer interrupts"},
	{amd64.VecSpurious, "SPU", "Spurious interrupts"},
	{amd64.VecWake, "RES", "Rescheduling interrupts"},
	{amd64.VecCall, "CAL", "Function call interrupts"},
	{amd64.VecSelf, "SLF", "Calls on the calling CPU"},
	{amd64.VecStop, "STP", "Stop machine interrupts"},
}

// Interrupts returns those of devices, of CPUs, and the exceptions that have arrived at
// least once.
func Interrupts() (all []Interrupt) {
	for _, l := range irq.Lines() {
		counts, _ := counted(amd64.VecLegacy + l.N)
		chip := "IO-APIC"
		if l.Message {
			chip = "PCI-MSI"
		}
		all = append(all, Interrupt{Name: strconv.Itoa(int(l.N)), Counts: counts, Chip: chip, Level: l.Level, Pin: l.Pin, What: l.Name})
	}
	for _, c := range calls {
		counts, _ := counted(c.vector)
		all = append(all, Interrupt{Name: c.name, Counts: counts, What: c.what})
	}
	for v := range uint8(amd64.Exceptions) {
		if counts, arrived := counted(v); arrived && v != amd64.VEC_NMI {
			name, what, _ := strings.Cut(amd64.VectorName(v), " ")
			all = append(all, Interrupt{Name: name, Counts: counts, What: what})
		}
	}
	return all
}

// counted returns how often a vector arrived on each CPU.
func counted(vector uint8) (counts []uint64, arrived bool) {
	for i := range cpu.Num() {
		n := trap.Count(i, vector)
		arrived = arrived || n > 0
		counts = append(counts, n)
	}
	return counts, arrived
}
