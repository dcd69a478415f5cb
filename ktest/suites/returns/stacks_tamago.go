//go:build tamago

package returns

import (
	"runtime"
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("returns/stack_grows_during_the_call", stackGrows)
	suites.Add("returns/stack_shrinks_during_the_call", stackShrinks)
	suites.Add("returns/garbage_is_collected_during_the_call", collected)
	suites.Add("returns/callers_never_see_the_trampoline", callers)
	suites.Add("returns/backtrace_in_the_handler_shows_the_caller", backtrace)
}

// during runs f; its frame is on the stack that f changes.
//
//go:noinline
func during(n uint64, f func()) (uint64, uint64) {
	before := here()
	f()
	return n + 1, uint64(before - here())
}

// here returns about where the stack is.
//
//go:noinline
func here() uintptr {
	var x byte
	return uintptr(unsafe.Pointer(&x)) // only compared
}

// fresh calls f in a new goroutine, whose stack is small.
func fresh(t *suites.T, f func()) {
	t.Go(f)
	t.Wait()
}

func stackGrows(t *suites.T) {
	const calls = 50
	rp := on(during, nothing)
	remove := register(t, rp)
	var moved uint64
	for i := range uint64(calls) {
		fresh(t, func() {
			n, by := during(i, func() { targets.Grow(500) })
			suites.Equal(t, "result", n, i+1)
			if by != 0 {
				moved++
			}
		})
	}
	remove()
	suites.Equal(t, "stacks that moved", moved, calls)
	suites.Equal(t, "Handled", rp.Hits(), calls)
}

// stackShrinks makes the stack large, then collects while a call is parked low
// on it: the collector moves it to a small one.
func stackShrinks(t *suites.T) {
	rp := on(during, nothing)
	remove := register(t, rp)
	parked, release := make(chan bool), make(chan bool)
	var n, by uint64
	t.Go(func() {
		targets.Grow(500)
		n, by = during(41, func() { parked <- true; <-release })
	})
	<-parked
	for range 5 {
		runtime.GC()
	}
	release <- true
	t.Wait()
	remove()
	suites.Equal(t, "result", n, 42)
	suites.Equal(t, "Handled", rp.Hits(), 1)
	if by == 0 {
		t.Errorf("the stack has not moved: nothing was tested")
	}
}

// trees are full of pointers that only the probed frames hold.
type tree struct {
	left, right *tree
	n           uint64
}

//go:noinline
func build(depth uint64) *tree {
	if depth == 0 {
		return &tree{n: 1}
	}
	l, r := build(depth-1), build(depth-1)
	if depth == 6 {
		runtime.GC()
	}
	return &tree{l, r, l.n + r.n}
}

func (t *tree) sum() uint64 {
	if t.left == nil {
		return t.n
	}
	return t.left.sum() + t.right.sum()
}

func collected(t *suites.T) {
	t.SeveralProcessors()
	rp := on(build, nothing)
	remove := register(t, rp)
	for range 3 {
		suites.Equal(t, "leaves", build(8).sum(), 256)
	}
	remove()
	suites.Equal(t, "Handled", rp.Hits(), 3*511)
}

// The chain that looks back at its callers.
//
//go:noinline
func outermost(look func()) int { return outer(look) + 1 }

//go:noinline
func outer(look func()) int { return inner(look) + 1 }

//go:noinline
func inner(look func()) int { look(); return 1 }

// frames returns the callers by name.
func frames() (list []string) {
	pcs := make([]uintptr, 50)
	all := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for {
		f, more := all.Next()
		list = append(list, f.Function)
		if !more {
			return list
		}
	}
}

// stack is debug.Stack without numbers that differ from call to call.
func stack() string {
	buf := make([]byte, 8192)
	var b strings.Builder
	for line := range strings.Lines(string(buf[:runtime.Stack(buf, false)])) {
		name, _, _ := strings.Cut(line, "(0x")
		name, _, _ = strings.Cut(name, " +0x")
		b.WriteString(strings.TrimSpace(name) + "\n")
	}
	return b.String()
}

// looks are the ways to look at a stack.
var looks = map[string]func() string{
	"runtime.Callers": func() string { return strings.Join(frames(), "\n") },
	"runtime.Stack":   stack,
	"runtime.Caller": func() string {
		var b strings.Builder
		for i := range 6 {
			_, file, _, ok := runtime.Caller(i)
			if !ok {
				break
			}
			b.WriteString(file + "\n")
		}
		return b.String()
	},
}

func callers(t *suites.T) {
	for name, look := range looks {
		var text [2]string
		for i := range text {
			remove := func() {}
			if i == 1 {
				remove = register(t, on(outermost, nothing), on(outer, nothing), on(inner, nothing), on(inner, nothing))
			}
			outermost(func() { text[i] = look() })
			remove()
		}
		if text[0] != text[1] || strings.Contains(text[1], "trampoline") || text[1] == "" {
			t.Errorf("%s without probes:\n%s\nwith:\n%s", name, text[0], text[1])
		}
	}
}

// backtrace makes the handlers of two nested calls print their stacks.
func backtrace(t *suites.T) {
	since := suites.Mark()
	show := func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int { die.DumpStack(r); return 0 }
	remove := register(t, on(outer, show), on(inner, show))
	outermost(func() {})
	remove()
	lines := suites.Log(since)
	if strings.Contains(lines, "trampoline") {
		t.Errorf("the handler sees the trampoline:\n%s", lines)
	}
	at := 0
	for _, want := range []string{"Call Trace:", "returns.outer+", "returns.outermost+", "returns.backtrace+",
		"Call Trace:", "returns.outermost+", "returns.backtrace+"} {
		i := strings.Index(lines[at:], want)
		if i < 0 {
			t.Fatalf("no %q where it belongs:\n%s", want, lines)
		}
		at += i
	}
}
