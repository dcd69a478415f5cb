// Command paced measures bpftrace, on this kernel and on Linux, where it can be the first process: how long it takes to
// start and to end, and what an event takes from the probe through perf's ring until it is printed.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

const (
	printed = "/tmp/printed"
	line    = len("1234567\n") // that is printed for each event
	ahead   = 4000             // events that may wait in the ring: it has room for 8,000
	few     = 5000
	most    = 25_000
)

func main() {
	if len(os.Args) == 2 {
		n, _ := strconv.Atoi(os.Args[1])
		burst(n)
		return
	}
	if os.Getpid() == 1 {
		mount()
		defer syscall.Reboot(syscall.LINUX_REBOOT_CMD_POWER_OFF)
	}
	for range 3 {
		fmt.Printf("starts and ends in %d us\n", took("-e", "BEGIN { exit() }").Microseconds())
	}
	for range 2 {
		fmt.Printf("an event takes %d ns\n", (events(most)-events(few))/(most-few))
	}
}

// mount makes what Linux's first process has to.
func mount() {
	for _, m := range [][2]string{{"proc", "/proc"}, {"sysfs", "/sys"}, {"devtmpfs", "/dev"}, {"debugfs", "/sys/kernel/debug"}, {"tracefs", "/sys/kernel/tracing"}, {"bpf", "/sys/fs/bpf"}, {"tmpfs", "/tmp"}} {
		os.MkdirAll(m[1], 0o755)
		if err := syscall.Mount(m[0], m[1], m[0], 0, ""); err != nil {
			fmt.Println(m[1], err)
		}
	}
}

// took runs bpftrace, whose output goes into a file.
func took(args ...string) time.Duration {
	out, err := os.Create(printed)
	if err != nil {
		fmt.Println(err)
		return 0
	}
	defer out.Close()
	c := exec.Command("/usr/bin/bpftrace", args...)
	c.Stdout, c.Stderr = out, os.Stderr
	begin := time.Now()
	if err := c.Run(); err != nil {
		fmt.Println(err)
	}
	return time.Since(begin)
}

// events prints n events; none may be lost.
func events(n int) time.Duration {
	t := took("-q", "-c", "/bin/paced "+strconv.Itoa(n), "-e", `tracepoint:syscalls:sys_enter_getppid { printf("%d\n", 1234567); }`)
	if got := lines(); got < n || got > n+10 {
		fmt.Printf("%d lines of %d\n", got, n)
	}
	return t
}

// lines is how many events were printed.
func lines() int {
	s, err := os.Stat(printed)
	if err != nil {
		return 0
	}
	return int(s.Size()) / line
}

// burst makes n system calls, and gives the CPU away while too many of them have not been printed.
func burst(n int) {
	for i := 1; i <= n; i++ {
		syscall.RawSyscall(syscall.SYS_GETPPID, 0, 0, 0)
		for i%500 == 0 && i-lines() > ahead {
			syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
		}
	}
}
