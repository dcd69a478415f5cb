//go:build linux

package vdso

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"
)

// loaded is the data page with the object after it, in the memory of this test.
type loaded struct{ data *Data }

// load maps them, with what the test wants to have in the data.
func load(t *testing.T, d Data) loaded {
	t.Helper()
	mem, err := syscall.Mmap(-1, 0, 3*pageSize, syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(mem) })
	copy(mem[pageSize:], Object(0))
	copy(mem[2*pageSize:], []byte{
		0x48, 0x89, 0xc7, // MOV RDI, RAX: from the convention of Go to that of C
		0x48, 0x89, 0xde, // MOV RSI, RBX
		0x31, 0xd2, // XOR EDX, EDX
		0xff, 0xe1, // JMP RCX
	})
	l := loaded{(*Data)(unsafe.Pointer(&mem[0]))}
	*l.data = d
	return l
}

// call calls the function at an offset of the object.
func (l loaded) call(at int, a uint64, b unsafe.Pointer) int64 {
	page := unsafe.Add(unsafe.Pointer(l.data), pageSize)
	thunk := &struct{ code uintptr }{uintptr(page) + pageSize}
	f := *(*func(a uint64, b unsafe.Pointer, to uintptr) int64)(unsafe.Pointer(&thunk))
	return f(a, b, uintptr(page)+uintptr(at))
}

func (l loaded) clock(clock int64) (now syscall.Timespec, result int64) {
	result = l.call(atClockGettime, uint64(clock), unsafe.Pointer(&now))
	return now, result
}

// pointer is p as a number, for a first argument.
func pointer[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// TestEveryNanosecondIsDivided: where the TSC counts for nothing, the time is the offset plus 1.
func TestEveryNanosecondIsDivided(t *testing.T) {
	l := load(t, Data{})
	check := func(ns int64) {
		t.Helper()
		l.data.Offset[0] = ns - 1
		if now, r := l.clock(0); r != 0 || now != syscall.NsecToTimespec(ns) {
			t.Fatalf("%d: %+v, result %d", ns, now, r)
		}
		var tv syscall.Timeval
		zone := [2]int32{7, 7}
		if r := l.call(atGettimeofday, pointer(&tv), unsafe.Pointer(&zone)); r != 0 || tv != (syscall.Timeval{Sec: ns / 1e9, Usec: ns % 1e9 / 1e3}) || zone != [2]int32{} {
			t.Fatalf("%d: %+v, %v, result %d", ns, tv, zone, r)
		}
		stored := int64(-1)
		if r := l.call(atTime, pointer(&stored), nil); r != ns/1e9 || stored != r {
			t.Fatalf("%d: time is %d, stored %d", ns, r, stored)
		}
	}
	for _, sec := range []int64{0, 1, 1 << 32, 1_700_000_000, 9_223_372_034} {
		for _, ns := range []int64{1, 2, 511, 512, 999, 1000, 999_999_999, 1_000_000_000, 1_000_000_001} {
			check(sec*1e9 + ns)
		}
	}
	for range 100_000 {
		check(1 + rand.Int64N(1<<63-2))
	}
}

// TestTheFactorScalesTheTSC: half the factor is half the time.
func TestTheFactorScalesTheTSC(t *testing.T) {
	l := load(t, Data{Mul: 1 << 32})
	read := func(mul uint64) int64 {
		l.data.Mul = mul
		now, _ := l.clock(1)
		return now.Nano()
	}
	for range 1000 {
		before, half, after := read(1<<32), read(1<<31), read(1<<32)
		if half < before/2 || half > after/2+1 {
			t.Fatalf("half of %d..%d is %d", before, after, half)
		}
		l.data.Base = uint64(before) - 1
		if d := read(1 << 32); d < after-before || d > 1e12 {
			t.Fatalf("%d ticks since %d", d, before)
		}
		l.data.Base = 0
	}
}

// TestOtherClocksAreTheKernels: the system call is made, here that of the host.
func TestOtherClocksAreTheKernels(t *testing.T) {
	var d Data
	d.Clocks(1e18)
	l := load(t, d)
	for clock, want := range map[int64]int64{
		0: 1_000_000_000, 5: 1_000_000_000, // wall clocks
		1: 0, 4: 0, 6: 0, 7: 0,
	} {
		if now, r := l.clock(clock); r != 0 || now.Sec != want || now.Nsec != 1 {
			t.Errorf("clock %d: %+v, result %d", clock, now, r)
		}
		var res syscall.Timespec
		if r := l.call(atClockGetres, uint64(clock), unsafe.Pointer(&res)); r != 0 || res != (syscall.Timespec{Nsec: 1}) {
			t.Errorf("clock %d: %+v, result %d", clock, res, r)
		}
	}
	for _, clock := range []int64{2, 3} {
		if now, r := l.clock(clock); r != 0 || now.Nano() <= 0 || now.Sec > 1000 {
			t.Errorf("clock %d: %+v, result %d", clock, now, r)
		}
	}
	for _, clock := range []int64{clocks, -1, 1 << 31, 1<<32 - 1} {
		if now, r := l.clock(clock); r != -int64(syscall.EINVAL) {
			t.Errorf("clock %d: %+v, result %d", clock, now, r)
		}
		if r := l.call(atClockGetres, uint64(clock), nil); r != -int64(syscall.EINVAL) {
			t.Errorf("clock %d: result %d", clock, r)
		}
	}
}

// TestWithoutDataAllAreCalls: each function asks the host's kernel.
func TestWithoutDataAllAreCalls(t *testing.T) {
	var d Data
	for i := range d.Offset {
		d.Offset[i] = -1
	}
	l := load(t, d)
	const since = 1_600_000_000
	if now, r := l.clock(0); r != 0 || now.Sec < since {
		t.Errorf("%+v, result %d", now, r)
	}
	var tv syscall.Timeval
	if r := l.call(atGettimeofday, pointer(&tv), nil); r != 0 || tv.Sec < since {
		t.Errorf("%+v, result %d", tv, r)
	}
	if r := l.call(atTime, 0, nil); r < since {
		t.Errorf("time is %d", r)
	}
	var res syscall.Timespec
	if r := l.call(atClockGetres, 5, unsafe.Pointer(&res)); r != 0 || res.Nsec <= 1 {
		t.Errorf("%+v, result %d", res, r)
	}
	cpu, node := int32(-1), int32(-1)
	if r := l.call(atGetcpu, pointer(&cpu), unsafe.Pointer(&node)); r != 0 || cpu < 0 || node < 0 {
		t.Errorf("CPU %d of node %d, result %d", cpu, node, r)
	}
}

// TestTheCPUIsALimit: Linux has a segment of this number, whose limit is the largest.
func TestTheCPUIsALimit(t *testing.T) {
	l := load(t, Data{CPUSegment: 0x2b})
	cpu, node := uint32(7), uint32(7)
	if r := l.call(atGetcpu, pointer(&cpu), unsafe.Pointer(&node)); r != 0 || cpu != 1<<32-1 || node != 0 {
		t.Errorf("CPU %#x of node %d, result %d", cpu, node, r)
	}
}

// TestNoPointers: what a caller does not ask for is not stored.
func TestNoPointers(t *testing.T) {
	l := load(t, Data{Offset: [clocks]int64{5e9}, CPUSegment: 0x2b})
	for _, at := range []int{atGettimeofday, atClockGetres, atGetcpu} {
		if r := l.call(at, 0, nil); r != 0 {
			t.Errorf("function at %#x: %d", at, r)
		}
	}
	if r := l.call(atTime, 0, nil); r != 5 {
		t.Errorf("time is %d", r)
	}
}
