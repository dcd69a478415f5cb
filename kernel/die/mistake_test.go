package die

import (
	"fmt"
	"testing"

	"sonde/internal/image"
	"sonde/kallsyms"
)

// TestDeedsAreInTheKernel: a name of the runtime's that has changed would name no mistake any more.
func TestDeedsAreInTheKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the kernel")
	}
	path, err := image.Build(image.BuildOptions{Test: true})
	if err != nil {
		t.Fatal(err)
	}
	info, err := image.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, d := range deeds {
		missing[d.begin] = true
	}
	for fn := range info.Symbols.Text {
		if k := known(fn.Name); k != nil {
			delete(missing, k.begin)
		}
	}
	for begin := range missing {
		t.Errorf("no function is found by %q", begin)
	}
}

// stack is calls as FindMistake gets them: functions from the innermost on, each on the line
// that is its place in the list.
func stack(functions ...string) ([]uintptr, func(uintptr) bool, look) {
	var calls []uintptr
	for i := range functions {
		calls = append(calls, uintptr(i+2))
	}
	at := func(pc uintptr) (string, string, int) {
		name := functions[pc-1]
		return name, kallsyms.Package(name) + "/f.go", int(pc)
	}
	return calls, func(pc uintptr) bool { return functions[pc-1] == "example.com/m.count" }, at
}

// TestMistakesAreNamed: what a handler did is told from the calls, whatever the
// innermost of them stumbled over.
func TestMistakesAreNamed(t *testing.T) {
	const count, helper = "example.com/m.count", "example.com/m.(*stats).note"
	hit := []string{count, "sonde/kprobes.onBreakpoint", "sonde/arch/amd64/trap.entryBP.abi0"}
	for _, c := range []struct {
		why   string
		inner []string
		want  string
	}{
		{"#PF page fault", []string{"runtime.mallocgcTiny", "runtime.mallocgc", "runtime.growslice"}, "allocates memory: append at 3"},
		{"takes a lock of the runtime", []string{"runtime.lock2", "runtime.(*mcache).refill", "runtime.mallocgc", "runtime.newobject"}, "allocates memory: new, or a variable that outlives the call at 4"},
		{"#PF page fault", []string{"sync.(*Pool).pin", "sync.(*Pool).Get", "fmt.newPrinter", "fmt.Sprintf"}, "allocates memory: fmt.Sprintf at 4"},
		{"#PF page fault", []string{"runtime.mallocgc", "errors.New"}, "allocates memory: errors.New at 2"},
		{"#PF page fault", []string{"runtime.mallocgc", "runtime.concatstrings", "runtime.concatstring2", helper}, "allocates memory: adding strings at 3"},
		{"writes to a map", []string{"internal/runtime/maps.(*Map).PutSlot", "runtime.mapassign_fast64"}, "writes to a map:  at 2"},
		{"channel operation", []string{"runtime.chansend", "runtime.chansend1"}, "channel operation: send at 2"},
		{"uses a mutex", []string{"internal/sync.(*Mutex).Lock", "sync.(*Mutex).Lock"}, "uses a mutex: sync.(*Mutex).Lock at 2"},
		{"takes a lock of the runtime", []string{"runtime.lock2", "time.Sleep"}, "sleeps: time.Sleep at 2"},
		{"starts a goroutine", []string{"runtime.newproc"}, "starts a goroutine:  at 1"},
		{"panic", []string{"runtime.gopanic", "runtime.panicBounds64"}, "panic:  at 2"},
		{"panic", []string{"runtime.gopanic", "runtime.mapassign_fast64"}, "panic:  at 2"},
		{"nil pointer dereference (#PF page fault)", nil, "nil pointer dereference (#PF page fault):  at 0"},
		{"it runs too long", []string{helper}, "it runs too long:  at 0"},
		{"uses a mutex", []string{"internal/sync.(*Mutex).Lock", "sonde/kprobes.UnregisterKprobe"}, "uses a mutex: kprobes.UnregisterKprobe at 2"},
	} {
		for _, outside := range [][]string{hit, hit[:1], {count, "sonde/kwatch.(*state).take", "sonde/kwatch.onHit"},
			{count, "sonde/kwatch.(*point).callCareful", "sonde/kwatch.(*state).take", "sonde/kwatch.onHit"},
			{count, "sonde/kprobes.onDetour", "sonde/kprobes.detour.abi0", "sonde/kernel/vfs.Read", "main.main"}} {
			calls, handler, at := stack(append(c.inner[:len(c.inner):len(c.inner)], outside...)...)
			m := FindMistake(calls, handler, at, c.why)
			if got := fmt.Sprintf("%s: %s at %d", m.What, m.By, m.Line-1); got != c.want || m.File != "example.com/m/f.go" {
				t.Errorf("%s with %q in %q: got %s in %s, want %s", c.why, c.inner, outside, got, m.File, c.want)
			}
		}
	}
}

func TestMistakesThatNoCallsTellOf(t *testing.T) {
	for _, names := range [][]string{nil, {"sonde/kprobes.onBreakpoint"}, {"", "sonde/arch/amd64/trap.entryBP"}} {
		calls, handler, at := stack(names...)
		if m := FindMistake(calls, handler, at, "why"); m != (Mistake{What: "why"}) {
			t.Errorf("%q: %+v", names, m)
		}
	}
}

func TestFindMistakeAllocatesNothing(t *testing.T) {
	calls, handler, at := stack("runtime.mallocgc", "fmt.Sprintf", "example.com/m.count", "sonde/kprobes.onBreakpoint")
	var m Mistake
	at = func(pc uintptr) (string, string, int) { return "fmt.Sprintf", "f.go", int(pc) }
	if n := testing.AllocsPerRun(100, func() { m = FindMistake(calls, handler, at, "why") }); n != 0 {
		t.Errorf("%v allocations for %+v", n, m)
	}
}
