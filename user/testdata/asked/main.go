// Command asked makes each call that bpftrace's tools look for, a known number of times.
package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func main() {
	switch strings.Join(os.Args[1:], " ") {
	case "again": // it was started by itself
		return
	case "eat":
		eat()
	case "slow": // what is said each second is said several times
		for range 4 {
			work()
			time.Sleep(700 * time.Millisecond)
		}
		return
	}
	work()
}

// work makes each call once, or as often as it says.
func work() {
	for range 3 {
		sleep(17) // the runtime, too, sleeps, but no longer than 10 ms
	}
	call(syscall.SYS_SETUID, 0)
	call(syscall.SYS_SETFSUID, 0)
	call(syscall.SYS_SETRESUID, 0, 77, 0) // is refused
	syscall.Kill(os.Getpid(), 0)
	syscall.Kill(4_000_000, syscall.SIGTERM) // there is none
	syscall.Sync()
	f, err := os.Create("/tmp/asked")
	if err != nil {
		panic(err)
	}
	for range 5 {
		f.Write([]byte("twelve bytes"))
	}
	syscall.Fsync(int(f.Fd()))
	f.Close()
	var st syscall.Stat_t
	syscall.Stat("/tmp/asked", &st)
	syscall.Lstat("/tmp/nothing", &st)
	var fs syscall.Statfs_t
	syscall.Statfs("/tmp", &fs)
	os.Remove("/tmp/asked") // so that the next one makes it, too
	for range 2 {
		exec.Command("/proc/self/exe", "again").Run()
	}
}

// sleep sleeps for some milliseconds.
func sleep(ms int64) {
	t := syscall.NsecToTimespec(ms * 1e6)
	call(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&t)), 0)
}

// eat takes all memory there is.
func eat() {
	var all [][]byte
	for {
		b := make([]byte, 16<<20)
		for i := 0; i < len(b); i += 4096 {
			b[i] = 1
		}
		all = append(all, b)
	}
}

// call makes a system call of its own thread, whatever becomes of it.
func call(n uintptr, args ...uintptr) {
	args = append(args, make([]uintptr, 3-len(args))...)
	syscall.RawSyscall(n, args[0], args[1], args[2])
}
