//go:build tamago

// Package programs runs programs that the launcher has put into the kernel's tree. Cases
// without their program are skipped; go test ./qemu -run Programs builds the programs.
package programs

import (
	"bytes"
	"time"

	"sonde/kernel/vfs"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("programs/leave_nothing", leaveNothing)
	suites.Add("programs/killed_at_random_moments", killed)
}

// run runs a line of the shell.
func run(t *suites.T, line string) (out string, status int) {
	var b bytes.Buffer
	status = suites.Script(&b, line)
	return b.String(), status
}

// need skips a case where a program is missing.
func need(t *suites.T, name string) {
	t.NeedPrograms()
	if _, err := vfs.Stat("/bin/" + name); err != nil {
		t.Skipf("%s is not in the kernel's tree", name)
	}
}

// leaveNothing relies on the leak line: frames, processes, threads, goroutines.
func leaveNothing(t *suites.T) {
	need(t, "busybox")
	for _, line := range []string{
		"hello a b", "threads", "signals", "gothreads",
		`busybox sh -c 'busybox seq 1 1000 | busybox sort | busybox md5sum'`,
	} {
		for range 2 {
			if out, status := run(t, line); status == 127 {
				t.Errorf("%s: status %d\n%s", line, status, out)
			}
		}
	}
}

// killed starts programs and kills them a little later each time: at their start, in
// system calls, in page faults, in ring 3, while they fork.
func killed(t *suites.T) {
	need(t, "threads")
	const moments = 60
	tries := 0
	for i := 0; i < moments; i += moments / suites.Rounds(moments, moments) {
		line := []string{"threads", "gothreads", `busybox sh -c 'while true; do busybox true | busybox cat; done'`}[tries%3]
		tries++
		done := make(chan int, 1)
		t.Go(func() {
			_, status := run(t, line)
			done <- status
		})
		time.Sleep(time.Duration(i*i) * 100 * time.Microsecond)
		for status := -1; status < 0; {
			for _, p := range suites.Programs.Processes() {
				p.Kill(9)
			}
			select {
			case status = <-done:
			case <-time.After(10 * time.Millisecond):
			}
		}
	}
	t.Until("all processes to be gone", func() bool { n, _, _ := suites.Programs.Counts(); return n == 0 })
}
