//go:build tamago

package shell

import (
	"fmt"
	"runtime"

	"sonde/arch/amd64/trap"
)

// The crash command ends the kernel in each way that the kernel has a rule for, so
// that users and tests see what it says then.

// crashKinds are its arguments. Those that return do not end the kernel.
var crashKinds = map[string]func() error{
	"panic":         func() error { go panic("crash: asked for"); select {} },
	"stackoverflow": func() error { return recurse(0) },
	"trapoverflow":  func() error { trap.OverflowStack(); return nil },
	"doublefault":   func() error { trap.DoubleFault(); return nil },
	"exception":     func() error { trap.InvalidOpcode(); return nil },
	"wildpointer":   func() error { trap.WildWrite(); return nil },
	"int3":          func() error { trap.Breakpoint(); return nil },
	"oom":           exhaust,
	"nil-recover":   recoverNil,
}

var crashCommand = &Command{
	Name:  "crash",
	Usage: "KIND",
	Help:  "end the kernel: panic stackoverflow trapoverflow doublefault exception wildpointer oom; or not: int3 nil-recover",
	Run: func(c *Context, args []string) error {
		if len(args) != 1 || crashKinds[args[0]] == nil {
			return Usagef("which kind of crash?")
		}
		return crashKinds[args[0]]()
	},
}

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
