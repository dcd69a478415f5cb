package targets

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"sonde/arch/amd64/insn"
)

// A Shape is a piece of bare code around one kind of instruction.
type Shape struct {
	Name  string
	Entry uintptr // of its first instruction

	f     func()
	needs string                 // what /proc/cpuinfo calls the processor's feature that it needs; "": none
	want  func(in *State) uint64 // what AX must be; nil if the machine decides
	vary  []func(*State)         // further inputs; none means the one of reset
}

// Result is a run of a shape with one input.
type Result struct {
	State
	Mem [Words]uint64
}

// shapes are the tables of the other files, added by their init functions.
var shapes []Shape

func add(list ...Shape) {
	for _, s := range list {
		s.Entry = entry(s.f)
		s.Name = nameOf(s.f)
		shapes = append(shapes, s)
	}
}

// Shapes returns all shapes that this machine can run.
func Shapes() []Shape {
	flags := features()
	return slices.DeleteFunc(slices.Clone(shapes), func(s Shape) bool { return s.needs != "" && !slices.Contains(flags, s.needs) })
}

// features are those of the processor. On the host they are taken to be all that a shape needs.
var features = func() []string { return []string{"cx16", "lahf_lm"} }

// is returns the want of a shape that always leaves v in AX.
func is(v uint64) func(*State) uint64 { return func(*State) uint64 { return v } }

// unchanged is the want of a shape that leaves AX alone.
func unchanged(in *State) uint64 { return in.AX }

// Run runs s with each of its inputs and returns what came out. Shapes are run
// one at a time.
//
// Errors: the first AX that is not what it must be.
func (s *Shape) Run() (results []Result, err error) {
	mu.Lock()
	defer mu.Unlock()
	vary := s.vary
	if vary == nil {
		vary = []func(*State){func(*State) {}}
	}
	for i, f := range vary {
		var st State
		st.reset()
		f(&st)
		in := st
		call(s.Entry, &st)
		if s.want != nil && st.AX != s.want(&in) && err == nil {
			err = fmt.Errorf("%s, input %d: AX %#x, want %#x", s.Name, i, st.AX, s.want(&in))
		}
		results = append(results, Result{st, Mem})
	}
	return results, err
}

// Prepare sets up input i, which Prepared runs and returns what came out of it,
// unchecked. A handler may call Prepared, if nothing else runs shapes.
func (s *Shape) Prepare(i int) {
	prepared.reset()
	if s.vary != nil {
		s.vary[i](&prepared)
	}
}

func (s *Shape) Prepared() Result {
	call(s.Entry, &prepared)
	return Result{prepared, Mem}
}

var prepared State

// Trace is Run with the first input and further flags set on entry: TF.
func (s *Shape) Trace(input int, flags uint64) {
	mu.Lock()
	defer mu.Unlock()
	var st State
	st.reset()
	if s.vary != nil {
		s.vary[input](&st)
	}
	st.Flags |= flags
	call(s.Entry, &st)
}

// Inputs returns how many inputs s is run with.
func (s *Shape) Inputs() int { return max(len(s.vary), 1) }

// nameOf returns the name of f without its package.
func nameOf(f func()) string {
	name := runtime.FuncForPC(reflect.ValueOf(f).Pointer()).Name()
	return name[strings.LastIndexByte(name, '.')+1:]
}

// entry returns where the assembly function f begins. Go's value for f is a
// wrapper that goes from one calling convention to the other; its first call
// of something that is not the runtime's is f.
func entry(f func()) uintptr {
	wrapper := reflect.ValueOf(f).Pointer()
	// Safe because: a wrapper is some 50 bytes of text that stays.
	code := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&wrapper))), 64)
	var to uintptr
	insn.Walk(code, func(off int, in insn.Inst) bool {
		if in.Flow == insn.Call {
			to = uintptr(in.Target(uint64(wrapper) + uint64(off)))
		}
		return to == 0
	})
	if to == 0 || runtime.FuncForPC(to).Name() != runtime.FuncForPC(wrapper).Name() {
		panic("targets: the wrapper of " + nameOf(f) + " is not understood")
	}
	return to
}
