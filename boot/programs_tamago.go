//go:build tamago && !nolinux

package main

import (
	"errors"
	"runtime"
	"time"

	"sonde/arch/amd64"
	"sonde/arch/amd64/user"
	"sonde/kernel/console"
	"sonde/kernel/cpu"
	"sonde/kernel/die"
	"sonde/kernel/irq"
	"sonde/kernel/mm"
	"sonde/kernel/printk"
	"sonde/kernel/procfs"
	"sonde/kernel/smp"
	"sonde/kernel/tty"
	"sonde/kernel/vfs"
	"sonde/kernel/vfs/ctl"
	"sonde/kprobes"
	"sonde/kwatch"
	"sonde/linux/calls"
	"sonde/linux/perf"
	"sonde/linux/proc"
	"sonde/linux/process"
	"sonde/linux/sock"
	"sonde/linux/space"
	"sonde/linux/syscall"
	"sonde/linux/usermode"
	"sonde/linux/vdso"
	"sonde/optprobe"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/probe/program"
	"sonde/shell"
	"sonde/shell/bench"
	"sonde/uprobes"
	"sonde/uprobes/link"
	"sonde/uprobes/machine"
)

// programs are the processes of this machine; nil where it cannot run any.
var programs *proc.Table

// threadMemory is the least memory of a thread in bytes: its goroutine's stack, its registers, its
// own stack and tables.
const threadMemory = 128 << 10

// startPrograms prepares the machine for programs.
func startPrograms() {
	if err := usermode.Init(); err != nil {
		printk.Warn("%s", err.Error())
		return
	}
	programs = proc.NewTable(proc.Config{
		Memory:  space.Kernel,
		NewCPU:  proc.NewCPU,
		Syscall: syscall.Handle,
		Log:     func(line string) { printk.Info("%s", line) },
		Clock:   uptime,
		Watched: kwatch.OfThread,
		Threads: int(min(mm.Usable/threadMemory, 32768)),
	})
	user.SetShort(syscall.Shorts(), syscall.Short)
	die.SetProgram(proc.Describe)
	program.SetProcesses(program.Processes{Identify: proc.Identify, Peek: proc.Peek, Registers: proc.Registers, Signal: proc.Signal, Task: proc.TaskOf})
	event.SetPrograms(event.Programs{
		Identify: proc.IdentifyThread, Path: proc.PathOf, Owner: proc.IdentifyProcess, Sent: proc.SignalSent, Taken: proc.SignalTaken, Faulted: proc.Faulted,
	})
	irq.OnInterrupt(proc.Overdue)
	programs.Init().SetTerminal(console.TTY)
	signal := func(group int, s tty.Signal) { programs.SendGroup(group, proc.SignalOf(int(s))) }
	console.TTY.OnSignal(signal)
	report("dev", tty.MountPTYs(vfs.Root, signal, func(t *tty.TTY) { programs.Disown(t) }))
	report("procfs", process.Mount(vfs.Root, programs))
	report("headers", event.MountHeaders(vfs.Root, syscall.Release))
	m := machine.This()
	m.Fuses, m.Stub, m.Known = optprobe.Fuses, optprobe.Stub, user.Known()
	uprobes.Init(programs, m)
	optprobe.OnFuses(func() { uprobes.Refit(nil) })
	attach.Provide(attach.Program, link.Provider{})
	kwatch.InitPrograms(programs)
	attach.Provide(attach.Call, calls.Provider{Table: programs})
	if kprobes.Lean() {
		uprobes.InTrap(kprobes.Careful)
	}
	perf.Faults, perf.Switches = "sonde/linux/proc.(*Thread).pageFault", "sonde/linux/proc.(*Thread).mayBlock"
	bench.Programs = programs
	go sampleLoad()
	syscall.SetLoader(syscall.ELF(space.Kernel, makeVDSO()))
	syscall.Uptime = uptime
	syscall.Yield, syscall.GiveWay = usermode.Yield, usermode.GiveWay
	syscall.Barrier = func() { smp.CallAll(func() {}) }
	syscall.MostOpen = int(mm.Usable / 10 >> 10)
	syscall.System.Version = "#1 " + runtime.Version()
	syscall.System.CPUs = cpu.Num
	syscall.System.Memory = memoryNow
	syscall.System.Loads = load.Now
	syscall.System.HWCap, syscall.System.HWCap2 = usermode.Capabilities()
}

// makeVDSO makes the vDSO; nil: there is no memory, and programs do without. The wall clock must be
// set, and is never set again.
func makeVDSO() *vdso.VDSO {
	d := vdso.Data{CPUSegment: amd64.SelCPU}
	d.Base, d.Mul = cpu.Clock()
	d.Clocks(cpu.WallClock())
	v, err := vdso.New(space.Kernel.Frames, d, syscall.ReleaseCode)
	if err != nil {
		printk.Err("vdso: %s", err.Error())
		return nil
	}
	return v
}

// mountProgramFiles binds the files that tell about programs as a whole.
func mountProgramFiles(tree *vfs.FS) {
	err := errors.Join(
		tree.Bind("/proc/net/unix", ctl.Print(sock.Print)),
		tree.Bind("/proc/unknown_syscalls", ctl.Print(syscall.Unknown)))
	report("procfs", err)
	report("perf", perf.Mount(tree))
	calls.RegisterTracepoints()
}

// shellPrograms is the programs for the shell; nil where it cannot run any.
func shellPrograms() shell.Programs { return shell.OnTable(programs) }

// runningPrograms is the process on each CPU, 0: none.
func runningPrograms() []int { return proc.CPUs() }

// memoryNow is the memory for sysinfo, in bytes.
func memoryNow() (total, free uint64) {
	m := procfs.MemoryNow()
	return m.Total, m.Available()
}

// load counts running programs; the kernel's own work does not count.
var load procfs.Averages

func sampleLoad() {
	for range time.Tick(procfs.LoadPeriod) {
		_, running := programs.Used()
		load.Sample(running)
	}
}

// loadNow is the contents of /proc/loadavg.
func loadNow() procfs.Load {
	l := procfs.Load{Average: load.Now()}
	if programs != nil {
		_, l.Running = programs.Used()
		_, l.Total, _ = programs.Counts()
		l.LastID = programs.LastID()
	}
	return l
}

// statNow is the contents of /proc/stat.
func statNow() procfs.Stat {
	s := procfs.StatNow()
	if programs != nil {
		var used proc.Usage
		used, s.Running = programs.Used()
		s.User = used.User
		_, _, s.Forks = programs.Counts()
	}
	return s
}
