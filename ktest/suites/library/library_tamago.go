//go:build tamago

// Package library tests what Go's standard library does on this machine where it expects
// Linux, and that TamaGo's drivers link and work.
package library

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"sonde/kernel/mm"
	"sonde/kernel/smp"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("library/identity_of_the_process", identity)
	suites.Add("library/system_calls_that_there_are_not", noSuchCalls)
	suites.Add("library/processes_cannot_be_started", noProcesses)
	suites.Add("library/time_of_day", timeOfDay)
	suites.Add("library/checksums_cost_no_memory", checksums)
	suites.Add("library/processor_and_memory_for_drivers", forDrivers)
	suites.Add("library/interrupts_send_signals", interruptsSendSignals)
	signal.Notify(signals, syscall.SIGTRAP) // here, because its goroutines stay
}

// identity used to end with #UD: package syscall has SYSCALL instructions of its own.
func identity(t *suites.T) {
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"os.Getpid", os.Getpid(), 1},
		{"os.Getppid", os.Getppid(), 0},
		{"os.Getuid", os.Getuid(), 0},
		{"os.Geteuid", os.Geteuid(), 0},
		{"os.Getgid", os.Getgid(), 0},
		{"os.Getegid", os.Getegid(), 0},
		{"syscall.Getpgrp", syscall.Getpgrp(), 1},
		{"syscall.Umask", syscall.Umask(0o22), 0},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", c.name, c.got, c.want)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if a, b := syscall.Gettid(), syscall.Gettid(); a != b || a < 1 {
		t.Errorf("syscall.Gettid is %d, then %d", a, b)
	}
}

// noSuchCalls makes system calls that the shim does not have, in every way that package
// syscall has.
func noSuchCalls(t *suites.T) {
	check := func(how string, e syscall.Errno) {
		if e != syscall.ENOSYS {
			t.Errorf("%s: %v (%d), want ENOSYS", how, e, int(e))
		}
	}
	_, _, e := syscall.RawSyscall(syscall.SYS_UNAME, 0, 0, 0)
	check("RawSyscall", e)
	_, _, e = syscall.RawSyscall6(syscall.SYS_MKDIR, 0, 0, 0, 0, 0, 0)
	check("RawSyscall6", e)
	_, _, e = syscall.Syscall(1<<20, 0, 0, 0)
	check("Syscall of a number that Linux has not", e)
	_, _, e = syscall.Syscall6(^uintptr(0), 0, 0, 0, 0, 0, 0)
	check("Syscall6 of -1", e)
	if _, err := os.Hostname(); err == nil {
		t.Errorf("os.Hostname gives no error")
	}
	if err := os.Mkdir("/x", 0o755); !errors.Is(err, syscall.ENOSYS) {
		t.Errorf("os.Mkdir: %v", err)
	}
}

// noProcesses: clone without the flags of a thread must not make a process.
func noProcesses(t *suites.T) {
	_, _, e := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if e != syscall.ENOSYS {
		t.Errorf("clone without a thread: %v", e)
	}
	if _, err := os.StartProcess("/bin/true", nil, new(os.ProcAttr)); err == nil {
		t.Errorf("os.StartProcess gives no error")
	}
}

func timeOfDay(t *suites.T) {
	var tv syscall.Timeval
	before := time.Now()
	err := syscall.Gettimeofday(&tv)
	after := time.Now()
	t.Must(err)
	if us := tv.Nano() / 1000; us < before.UnixMicro() || us > after.UnixMicro() || tv.Usec >= 1e6 {
		t.Errorf("%d us (%d.%06d), want %d to %d", us, tv.Sec, tv.Usec, before.UnixMicro(), after.UnixMicro())
	}
}

// checksums used to cost every image 32 MiB: crypto has a variable of that size.
func checksums(t *suites.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-4, "abc"
	sum := sha256.Sum256([]byte("abc"))
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("SHA-256 of abc is %s", got)
	}
	if n := mm.Data.End - mm.Data.Start; n > 8<<20 {
		t.Errorf("the image's data takes %d MiB", n>>20)
	}
}

func forDrivers(t *suites.T) {
	if name := runtime.CPU(); name != strings.TrimSpace(name) || name == "" {
		t.Errorf("the processor's name is %q", name)
	}
	if start, end := runtime.MemRegion(); uintptr(start) != mm.Heap.Start || uintptr(end) != mm.Heap.End {
		t.Errorf("the memory is %#x-%#x, want %#x-%#x", start, end, mm.Heap.Start, mm.Heap.End)
	}
}

var signals = make(chan os.Signal, 1)

// relay is signal.Relay, called by assembly.
func relay(sig uint)

// interruptsSendSignals does what TamaGo's drivers do: an interrupt relays a
// signal, which wakes the goroutine that waits for it.
func interruptsSendSignals(t *suites.T) {
	for i := range 50 {
		t.Until("the receiver to wait", signal.Waiting)
		smp.CallAll(func() { // in an interrupt on all other CPUs
			relay(uint(syscall.SIGTRAP))
			signal.Relay(uint(syscall.SIGUSR1)) // no goroutine asked for this
		})
		select {
		case s := <-signals:
			if s != syscall.SIGTRAP {
				t.Fatalf("%v came", s)
			}
		case <-time.After(suites.Limit):
			t.Fatalf("signal %d did not come", i)
		}
		for len(signals) > 0 { // each CPU sent one
			<-signals
		}
	}
}
