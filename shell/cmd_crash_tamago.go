//go:build tamago

package shell

import (
	"fmt"
	"runtime"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
)

// The crash command ends the kernel in each way that the kernel handles, so that users and tests
// see the reports.

// crashKinds are its arguments. Those that return do not end the kernel.
var crashKinds = map[string]func() error{
	"panic":         func() error { go panic("crash: asked for"); select {} },
	"stackoverflow": func() error { return recurse(0) },
	"trapoverflow":  func() error { trap.OverflowStack(); return nil },
	"doublefault":   func() error { trap.DoubleFault(); return nil },
	"exception":     func() error { trap.InvalidOpcode(); return nil },
	"wildpointer":   func() error { trap.WildWrite(); return nil },
	"wildjump":      func() error { trap.WildJump(); return nil },
	"int3":          func() error { trap.Breakpoint(); return nil },
	"oom":           exhaust,
	"nil-recover":   recoverNil,
	// In ring 3: DIVL CX with CX = 0, and INT $18, which is #MC.
	"ring3-doublefault":  func() error { trap.Mislead(amd64.VEC_DE); return inRing3(0x31, 0xc9, 0xf7, 0xf1) },
	"ring3-machinecheck": func() error { trap.Open(amd64.VEC_MC); return inRing3(0xcd, amd64.VEC_MC) },
}

var crashCommand = &Command{
	Name:  "crash",
	Usage: "KIND",
	Help:  "crash the kernel: panic stackoverflow trapoverflow doublefault exception wildpointer wildjump oom ring3-doublefault ring3-machinecheck; or do what it survives: int3 nil-recover",
	Run: func(c *Context, args []string) error {
		if len(args) != 1 {
			return Usagef("give one kind; help crash lists them")
		}
		if crashKinds[args[0]] == nil {
			return Usagef("there is no kind %s; help crash lists them", args[0])
		}
		return crashKinds[args[0]]()
	},
}

//go:noinline
func recurse(n int) error {
	var a [128]int
	a[n%128] = n
	//lint:ignore SA5007 it is to use up the stack
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
		if n := len(keep); n == 1<<40 { // it uses keep, and never is
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
