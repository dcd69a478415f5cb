//go:build tamago

// Package memory tests what may be read, written and executed.
package memory

import (
	"runtime/debug"
	"unsafe"

	"sonde/kernel/mm"
	"sonde/ktest/suites"
	"sonde/ktest/suites/leaves"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("memory/text_is_not_writable", textIsNotWritable)
	suites.Add("memory/read_only_data_is_not_writable", roDataIsNotWritable)
	suites.Add("memory/data_is_not_executable", dataIsNotExecutable)
	suites.Add("memory/nothing_is_low", nothingIsLow)
}

// faultAddr calls f and returns the address it faults at.
func faultAddr(f func()) (addr uintptr, faulted bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e, ok := recover().(interface{ Addr() uintptr }); ok {
			addr, faulted = e.Addr(), true
		}
	}()
	f()
	return 0, false
}

// at returns addr as a pointer.
// Safe because: cases use it on what is mapped, or to see the fault.
func at(addr uintptr) *byte { return *(**byte)(unsafe.Pointer(&addr)) }

// cannotWrite checks on every CPU at once that writing to addr faults there and
// changes nothing.
func cannotWrite(t *suites.T, name string, addr uintptr) {
	before := *at(addr)
	t.Together(func(int) {
		if got, ok := faultAddr(func() { *at(addr) = before }); !ok || got != addr {
			t.Errorf("%s: writing to %#x faults: %v, at %#x", name, addr, ok, got)
		}
	})
	if *at(addr) != before {
		t.Errorf("%s: the byte at %#x is another now", name, addr)
	}
}

func textIsNotWritable(t *suites.T) {
	cannotWrite(t, "first byte", mm.Text.Start)
	cannotWrite(t, "a function", targets.Shapes()[0].Entry)
	cannotWrite(t, "last byte", mm.Text.End-1)
	cannotWrite(t, "slots", mm.Slots.Start)
	cannotWrite(t, "last slot", mm.Slots.End-1)
	cannotWrite(t, "compiled programs", mm.Made.Start)
}

func roDataIsNotWritable(t *suites.T) {
	const text = "a constant"
	cannotWrite(t, "string", uintptr(unsafe.Pointer(unsafe.StringData(text))))
	cannotWrite(t, "rodata", mm.ROData.Start)
	if mm.Symbols.Start == 0 {
		t.Fatalf("the image carries no symbol table")
	}
	cannotWrite(t, "symbol table", mm.Symbols.Start)
}

var dataRET = [16]byte{0xc3, 0xc3, 0xc3, 0xc3}

// dataIsNotExecutable calls a RET in each kind of memory that holds no code. If
// it is executed it returns, and nothing is seen to happen.
func dataIsNotExecutable(t *suites.T) {
	heap := make([]byte, 64)
	heap[0] = 0xc3
	stack := [16]byte{0xc3}
	for _, c := range []struct {
		name string
		addr uintptr
	}{
		{"data", uintptr(unsafe.Pointer(&dataRET))},
		{"heap", uintptr(unsafe.Pointer(&heap[0]))},
		{"stack", uintptr(unsafe.Pointer(&stack))},
		{"rodata", mm.ROData.Start},
		{"symbols", mm.Symbols.Start},
		{"alias of text", mm.Text.Start + mm.AliasOffset},
	} {
		if got, ok := faultAddr(func() { execute(c.addr) }); !ok || got != c.addr {
			t.Errorf("%s: calling %#x faults: %v, at %#x", c.name, c.addr, ok, got)
		}
	}
}

// execute calls the code at addr.
func execute(addr uintptr) {
	fn := &struct{ code uintptr }{addr}
	// Safe because: a func value points to a struct that begins with the code.
	(*(*func())(unsafe.Pointer(&fn)))()
}

// nothingIsLow: a pointer of the kernel's into the lower half is wild.
func nothingIsLow(t *suites.T) {
	for _, l := range leaves.All() {
		if l.VA < 1<<63 {
			t.Errorf("%#x is mapped to %#x", l.VA, l.PA)
		}
	}
}
