//go:build tamago

package main

import (
	"fmt"
	"runtime"
	"unsafe"

	"sonde/arch/amd64/trap"
	"sonde/bench"
	"sonde/shell"
)

// The crash command ends the kernel in each way it has a rule for, so that one
// can see, and test, what is said then.

// extraCommands are the shell commands of this package.
var extraCommands = []*shell.Command{crashCommand, bench.Command}

// kinds are its arguments; those that return are no crashes.
var kinds = map[string]func() error{
	"panic":         func() error { go panic("crash: asked for"); select {} },
	"stackoverflow": func() error { return recurse(0) },
	"trapoverflow":  func() error { trap.OverflowStack(); return nil },
	"doublefault":   func() error { trap.DoubleFault(); return nil },
	"exception":     func() error { trap.InvalidOpcode(); return nil },
	"wildpointer":   func() error { *(*int)(wild) = 1; return nil },
	"int3":          func() error { trap.Breakpoint(); return nil },
	"oom":           exhaust,
	"nil-recover":   recoverNil,
}

var crashCommand = &shell.Command{
	Name:  "crash",
	Usage: "KIND",
	Help:  "end the kernel: panic stackoverflow trapoverflow doublefault exception wildpointer oom; or not: int3 nil-recover",
	Run: func(c *shell.Context, args []string) error {
		if len(args) != 1 || kinds[args[0]] == nil {
			return shell.Usagef("which kind of crash?")
		}
		return kinds[args[0]]()
	},
}

// wild points to where there is nothing. Safe because: that is the point.
var wild = unsafe.Pointer(uintptr(0x123456789000))

//go:noinline
func recurse(n int) error {
	var a [128]int
	a[n%128] = n
	err := recurse(n + 1)
	runtime.KeepAlive(&a)
	return err
}

func exhaust() error {
	var keep [][]byte
	for {
		b := make([]byte, 1<<20)
		b[0] = 1
		keep = append(keep, b)
		if len(keep) < 0 {
			return fmt.Errorf("%d", len(keep))
		}
	}
}

func recoverNil() (err error) {
	defer func() {
		if e := recover(); e != nil {
			err = nil
		}
	}()
	var p *int
	*p = 1
	return fmt.Errorf("a nil dereference did not panic")
}
