package native

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"
)

const (
	stackSize = 64 << 10
	guard     = 0xA5 // what the bytes of the stack are that were not written
	// Low asks for memory below 2 GiB, where this process has its code.
	Low = syscall.MAP_32BIT
)

// Helpers, by their addresses. They change all registers that a Go function can change, and the
// words that the caller of one has to have room for.
const (
	Sum   = iota // its five arguments times 1, 3, 5, 7 and 11, added
	One          // 1
	Words        // the context, and the CPU's word times 3, and the link times 5, added
	Back         // calls the function of the program at its first argument with the next four
)

// Address returns the address of a helper.
func Address(helper int) uintptr

// state is what call leaves.
type state struct {
	result, goroutine, frame uint64
	zero                     [2]uint64
}

func call(entry, stack, ax, bx uintptr, to *state)

// Memory returns mapped memory that can be written and executed; flags is 0 or Low.
func Memory(t testing.TB, size, flags int) []byte {
	t.Helper()
	addr, _, errno := syscall.RawSyscall6(syscall.SYS_MMAP, 0, uintptr(size), syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC,
		uintptr(syscall.MAP_PRIVATE|syscall.MAP_ANON|flags), ^uintptr(0), 0)
	if errno != 0 {
		t.Fatalf("mapping %d bytes: %v", size, errno)
	}
	t.Cleanup(func() {
		if _, _, errno := syscall.RawSyscall(syscall.SYS_MUNMAP, addr, uintptr(size), 0); errno != 0 {
			t.Errorf("unmapping: %v", errno)
		}
	})
	return unsafe.Slice((*byte)(at(addr)), size)
}

// at turns the address of mapped memory into a pointer.
func at(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// AddressOf returns the address of mapped memory.
func AddressOf(memory []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(memory))) }

// Machine executes code. It belongs to one goroutine.
type Machine struct {
	stack []byte
	cpu   []byte
}

// Word is the first word of memory, for what else changes it while code runs.
func Word(memory []byte) *atomic.Uint64 { return (*atomic.Uint64)(at(AddressOf(memory))) }

// New returns a machine whose CPU's word at GS+0 is cpu, and locks the goroutine to its thread.
func New(t testing.TB, cpu uint64) *Machine {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	m := &Machine{stack: Memory(t, stackSize, 0), cpu: Memory(t, 4096, 0)}
	binary.LittleEndian.PutUint64(m.cpu, cpu)
	const setGS = 0x1001 // ARCH_SET_GS; Go does not use GS here
	if _, _, errno := syscall.RawSyscall(syscall.SYS_ARCH_PRCTL, setGS, AddressOf(m.cpu), 0); errno != 0 {
		t.Fatalf("setting GS: %v", errno)
	}
	for i := range m.stack {
		m.stack[i] = guard
	}
	return m
}

// Call calls the code at entry as a handler, and returns its result.
//
// Errors: it has changed what it must leave alone, or written more than depth bytes below its
// return address.
func (m *Machine) Call(entry uintptr, link, context uint64, depth int) (uint64, error) {
	const above = 128 // the end of the stack, above what the code is called with
	var s state
	top := len(m.stack) - above
	call(entry, AddressOf(m.stack)+uintptr(top), uintptr(link), uintptr(context), &s)
	if s.goroutine != goroutine || s.frame != frame || s.zero != [2]uint64{zeroLow, zeroHigh} {
		return 0, fmt.Errorf("left R14 = %#x, BP = %#x, X15 = %#x: these must stay", s.goroutine, s.frame, s.zero)
	}
	for i := max(top-16-depth-1024, 0); i < len(m.stack); i++ { // 16: the trampoline's word, the return address
		if m.stack[i] != guard && (i < top-16-depth || i >= top) {
			return 0, fmt.Errorf("wrote %d bytes below its return address, where %d were to be used", top-16-i, depth)
		}
		m.stack[i] = guard
	}
	return s.result, nil
}

// What the registers hold that code must leave alone.
const (
	goroutine = 0x1414141414141414
	frame     = 0x0505050505050505
	zeroLow   = 0x1515151515151515
	zeroHigh  = 0x1515151515151515
)

// CPU returns the memory at GS.
func (m *Machine) CPU() []byte { return m.cpu }
