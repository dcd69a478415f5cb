//go:build linux

package main

import (
	"flag"
	"fmt"
	"os"
	"syscall"
	"time"
	_ "unsafe" // for go:linkname

	"sonde/shell/coreutils"
)

// myprog is the program to be probed. It calls myfunc again and again, and prints each result:
// myprog [-n CALLS] [-every DURATION] [-burst CALLS]. With -burst, it makes further calls in between,
// without printing.
func myprog(_ *coreutils.IO, args []string) error {
	flags := flag.NewFlagSet("myprog", flag.ContinueOnError)
	n := flags.Int("n", 0, "how many calls to print; 0: no limit")
	every := flags.Duration("every", time.Second, "time between two printed calls")
	burst := flags.Int("burst", 0, "how many calls to make without printing between two printed ones")
	if err := flags.Parse(args); err != nil {
		return coreutils.Misused
	}
	for i := 1; *n == 0 || i <= *n; i++ {
		counter = i
		fmt.Printf("myprog[%d]: myfunc(%d) = %d\n", os.Getpid(), i, myfunc(i))
		if i != *n {
			for range *burst {
				_ = myfunc(i)
			}
			pause(*every)
		}
	}
	return nil
}

// counter is how many calls were printed: a variable to watch, main.counter.
var counter int

// pause waits by one system call. The runtime's timers would write to an eventfd now and then, and a
// probe that counts the writes of this program would count those, too.
func pause(d time.Duration) {
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR {
	}
}

// myfunc is the function to probe. Its symbol is plain "myfunc", as in a C program, so that
// instructions for C programs work here: nm -p myprog | awk '$3=="myfunc"'.
//
//go:noinline
//go:linkname myfunc myfunc
func myfunc(n int) int { return n * n }
