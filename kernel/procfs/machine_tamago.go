//go:build tamago

package procfs

import (
	"io"
	"runtime"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/grace"
	"sonde/kernel/irq"
	"sonde/kernel/mm"
	"sonde/kernel/mm/frame"
)

// Machine returns the facts of the machine this runs on. Version and Cmdline are
// boot's to add.
func Machine() Sources {
	return Sources{
		Uptime: Uptime, Memory: MemoryNow, CPUs: CPUs, Interrupts: Interrupts,
		Kallsyms: func(w io.Writer) { kallsyms.Kernel().WriteTo(w) },
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
	}
}

// CPUs returns the processors that run, which are taken to be alike.
func CPUs() (all []CPU) {
	hz, _ := cpu.TSC()
	p := amd64.Identify(cpu.CPUID)
	flags := amd64.Features(cpu.CPUID)
	for i := range cpu.Num() {
		all = append(all, CPU{
			ID: i, APICID: int(cpu.APIC(i)), Online: true, MHz: float64(hz) / 1e6,
			Vendor: p.Vendor, Model: p.Brand, Family: p.Family, ModelID: p.Model, Stepping: p.Stepping,
			Flags: flags,
		})
	}
	return all
}

// Interrupts returns the vectors that have arrived at least once: exceptions,
// devices' and those by which CPUs call each other; and NMIs in any case, as on Linux.
func Interrupts() (all []Interrupt) {
	for v := range 256 {
		one := Interrupt{Vector: uint8(v), Name: irq.Name(uint8(v))}
		arrived := v == amd64.VEC_NMI
		for i := range cpu.Num() {
			n := trap.Count(i, one.Vector)
			arrived = arrived || n > 0
			one.Counts = append(one.Counts, n)
		}
		if arrived {
			all = append(all, one)
		}
	}
	return all
}
