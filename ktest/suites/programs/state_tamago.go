//go:build tamago

package programs

import (
	"sonde/kernel/abi"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/linux/proc"
)

func init() { suites.Add("programs/woken_is_no_longer_asleep", wokenRuns) }

// pauses is mov $34, %eax; syscall; jmp to the beginning.
var pauses = []byte{0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7}

// wokenRuns wakes a program that sleeps, and reads its state before it can have ended: it is
// running, whether or not it has a CPU. It used to be reported as sleeping until it had one.
func wokenRuns(t *suites.T) {
	t.NeedPrograms()
	const path = "/tmp/pauses"
	suites.WriteProgram(t, path, pauses)
	defer vfs.Root.Remove(path)
	for range 20 {
		p := suites.StartProgram(t, path, nil)
		t.Until("the program to sleep", func() bool { return p.State() == "S" })
		p.Send(proc.SignalOf(abi.SIGTERM))
		if state := p.State(); state == "S" {
			t.Errorf("a program that was woken is %s", state)
		}
		if f, ok := p.ThreadFacts(p.PID); ok && f.State == "S" {
			t.Errorf("its thread is %s", f.State)
		}
		suites.WaitProgram(t, p)
	}
}
