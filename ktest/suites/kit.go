package suites

import (
	"fmt"
	"runtime"
	"strings"

	"sonde/kallsyms"
)

// What cases of several suites do.

// Equal makes the case fail unless have is want.
func Equal[V comparable](t *T, what string, have, want V) {
	if have != want {
		t.Errorf("%s: %v, want %v", what, have, want)
	}
}

// Function returns the symbol of that name, or ends the case.
func (t *T) Function(name string) kallsyms.Symbol {
	s, err := kallsyms.Resolve(name)
	t.Must(err)
	return s
}

// Containing returns the symbol that addr lies in, or ends the case.
func (t *T) Containing(addr uintptr) kallsyms.Symbol {
	s, ok := kallsyms.Kernel().At(uint64(addr))
	if !ok {
		t.Fatalf("%#x belongs to no symbol", addr)
	}
	return s
}

// Crash calls f, which panics, and returns what the panic is and the stack it came from, a line for
// each frame.
func Crash(f func()) (report string) {
	defer func() {
		e := recover()
		pcs := make([]uintptr, 20)
		frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
		var b strings.Builder
		fmt.Fprintln(&b, e)
		for {
			f, more := frames.Next()
			fmt.Fprintf(&b, "%s:%d\n", f.Function, f.Line)
			if !more || strings.HasSuffix(f.Function, "suites.Crash") {
				break
			}
		}
		report = b.String()
	}()
	f()
	return "no panic"
}
