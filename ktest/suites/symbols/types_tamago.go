//go:build tamago

package symbols

import (
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/arch/amd64/trap"
	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/probe/types"
)

func init() {
	suites.Add("symbols/arguments_are_where_the_table_says", argumentsAreThere)
	suites.Add("symbols/every_go_function_has_types", everyFunctionHasTypes)
}

// shelf is generic: its methods are given a dictionary.
type shelf[T any] struct{ held []T }

//go:noinline
func (s *shelf[T]) put(v T, name string) (at int, label string) {
	s.held = append(s.held, v)
	return len(s.held), name[1:]
}

// mixed has arguments and results of all kinds, some of them on the stack: arrays of two are never in
// registers.
//
//go:noinline
func mixed(s string, f float64, w any, c small, two [2]int, one [1]uint32, p []byte, last int8) (n int, text string, both [2]int, err error) {
	if w == nil || f == 0 || one[0] == 0 || last == 0 {
		return 0, "", two, nil
	}
	return len(p), s[1:], [2]int{two[1], c.b}, errBoth
}

type small struct {
	a uint8
	b int
}

var (
	errBoth = errors.New("both")
	shelves shelf[[]byte]
	text        = "an argument"
	bytes       = []byte{1, 2, 3, 4, 5}
	held    any = &shelves
)

// counting returns a closure.
//
//go:noinline
func counting(from int) func(by int, p []byte) (int, bool) {
	return func(by int, p []byte) (int, bool) { from += by; return from + len(p), from > by }
}

// seen is what a handler finds in the registers that carry arguments, and on the stack.
type seen struct {
	regs  [24]uint64 // as gotypes numbers them
	stack [8]uint64
}

// take notes all; base is where arguments on the stack begin.
func (s *seen) take(r *amd64.Regs, base uint64) {
	for i, v := range [...]uint64{r.AX, r.BX, r.CX, r.DI, r.SI, r.R8, r.R9, r.R10, r.R11} {
		s.regs[i] = v
	}
	for i := range s.stack {
		// Safe because: the goroutine's stack goes on for the frame of the test that calls.
		s.stack[i] = *(*uint64)(unsafe.Pointer(uintptr(base) + 8*uintptr(i)))
	}
}

func (s *seen) floats(r *amd64.Regs) {
	for i, x := range trap.XMM(r)[:15] {
		s.regs[int(gotypes.X0)+i] = binary.LittleEndian.Uint64(x[:])
	}
}

// words returns the words of an argument, wherever it is.
func (s *seen) words(p gotypes.Place, n int) (list []uint64) {
	if p.OnStack {
		return s.stack[p.Stack/8:][:n]
	}
	for _, r := range p.Regs {
		list = append(list, s.regs[r])
	}
	return list
}

// value is an argument as the test passes it: its words in memory. Of the first word only the low
// bits count if the argument is smaller.
type value struct {
	name, kind string // its type as explain prints it
	words      []uint64
	bits       int // of the first word; 0: all
}

// inMemory returns the words of a string, a slice or an interface.
func inMemory[T any](v *T) []uint64 {
	// Safe because: v points to as many words.
	return append([]uint64(nil), unsafe.Slice((*uint64)(unsafe.Pointer(v)), int(unsafe.Sizeof(*v))/8)...)
}

func compare(t *suites.T, where string, got []gotypes.Arg, saw *seen, table *gotypes.Table, want []value) {
	if len(got) != len(want) {
		t.Fatalf("%s: %d values in the table, want %d", where, len(got), len(want))
	}
	for i, w := range want {
		a := got[i]
		if kind := gotypes.Short(table.Type(a.Type).Name); a.Name != w.name || kind != w.kind {
			t.Errorf("%s: value %d is %s %s in the table, want %s %s", where, i, a.Name, kind, w.name, w.kind)
		}
		words := append([]uint64(nil), saw.words(a.Place, len(w.words))...)
		if w.bits > 0 && len(words) > 0 {
			words[0] &= 1<<w.bits - 1
		}
		if !reflect.DeepEqual(words, w.words) {
			t.Errorf("%s: %s in %s is %#x, want %#x", where, w.name, a.Place, words, w.words)
		}
	}
}

// watch calls f with probes on entry and return of the function at addr, and compares what they see.
func watch(t *suites.T, addr uintptr, f func(), args, results []value) {
	var in, out seen
	name := string(kallsyms.Symbolize(make([]byte, 0, 200), uint64(addr)))
	k := &kprobes.Kprobe{Addr: addr, PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
		in.take(r, r.SP+8)
		in.floats(r)
		return 0
	}}
	ret := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: addr}, Handler: func(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
		out.take(r, r.SP)
		return 0
	}}
	t.Must(kprobes.RegisterKprobe(k))
	defer kprobes.UnregisterKprobe(k)
	t.Must(kprobes.RegisterKretprobe(ret))
	defer kprobes.UnregisterKretprobe(ret)
	f()
	table, call, err := types.Function(uint64(addr))
	t.Must(err)
	compare(t, name, call.Args, &in, table, args)
	compare(t, name+" returns", call.Results, &out, table, results)
	if hidden := strings.Contains(call.Name, "[go.shape."); (call.Hidden != nil) != hidden {
		t.Errorf("%s: dictionary in %v", name, call.Hidden)
	}
}

// argumentsAreThere compares what the table says of calls with the registers and the stack at calls:
// of a generic method, a closure, and a function with values of all kinds.
func argumentsAreThere(t *suites.T) {
	t.OneProcessor()
	ptr := func(p unsafe.Pointer) []uint64 { return []uint64{uint64(uintptr(p))} }
	tail := text[1:]
	put := t.Function("symbols.(*shelf[go.shape.[]uint8]).put")
	shelves.held = nil
	watch(t, uintptr(put.Addr), func() { shelves.put(bytes, text) },
		[]value{{"s", "*symbols.shelf[go.shape.[]uint8]", ptr(unsafe.Pointer(&shelves)), 0}, {"v", "go.shape.[]uint8", inMemory(&bytes), 0}, {"name", "string", inMemory(&text), 0}},
		[]value{{"at", "int", []uint64{1}, 0}, {"label", "string", inMemory(&tail), 0}})

	count := counting(40)
	watch(t, reflect.ValueOf(count).Pointer(), func() { count(2, bytes) },
		[]value{{"by", "int", []uint64{2}, 0}, {"p", "[]uint8", inMemory(&bytes), 0}},
		[]value{{"~r0", "int", []uint64{47}, 0}, {"~r1", "bool", []uint64{1}, 8}})

	watch(t, reflect.ValueOf(mixed).Pointer(), func() { mixed(text, 2.5, held, small{7, 8}, [2]int{21, 22}, [1]uint32{9}, bytes, -1) },
		[]value{{"s", "string", inMemory(&text), 0}, {"f", "float64", []uint64{math.Float64bits(2.5)}, 0}, {"w", "interface {}", inMemory(&held), 0},
			{"c", "symbols.small", []uint64{7, 8}, 8}, {"two", "[2]int", []uint64{21, 22}, 0}, {"one", "[1]uint32", []uint64{9}, 32},
			{"p", "[]uint8", inMemory(&bytes), 0}, {"last", "int8", []uint64{0xff}, 8}},
		[]value{{"n", "int", []uint64{5}, 0}, {"text", "string", inMemory(&tail), 0}, {"both", "[2]int", []uint64{22, 8}, 0}, {"err", "error", inMemory(&errBoth), 0}})
}

// everyFunctionHasTypes: a function is missing in the table only if it is of assembly, or made by the
// compiler.
func everyFunctionHasTypes(t *suites.T) {
	t.OneProcessor()
	table, err := types.Kernel()
	t.Must(err)
	known, missing := 0, 0
	for s := range kallsyms.Kernel().Text {
		switch _, ok := table.Func(s.Addr); {
		case ok:
			known++
		case s.Size > 0 && !strings.HasSuffix(s.Name, ".abi0") && !strings.HasPrefix(s.Name, "type:."):
			missing++
			if missing < 10 {
				t.Logf("nothing is known of %s", s.Name)
			}
		}
	}
	t.Logf("%d functions, %d missing", known, missing)
	if known < 9000 || missing > known/100 {
		t.Errorf("%d functions are known, %d are not", known, missing)
	}
}
