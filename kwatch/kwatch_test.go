package kwatch

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/arch/amd64"
	"sonde/arch/amd64/debugreg"
	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/linux/proc"
)

// onFake makes the machine one that notes what it is to watch.
func onFake(t *testing.T) *[]debugreg.Set {
	mu.Lock() // the goroutine of a process that has ended may use it
	defer mu.Unlock()
	old, log := this, new([]debugreg.Set)
	this = machine{
		cpus: func() int { return 2 },
		set:  func(s *debugreg.Set) { *log = append(*log, *s) },
		each: func() {}, unwatched: func() {},
		recheck: func(uintptr) grace.Change { return grace.Change{} },
		read:    func(addr uintptr, length int) uint64 { return uint64(addr) },
		careful: func(any) bool { return true },
		blind:   func() uint64 { return 7 },
		refuse: func(addr uintptr, _ int, _ Type, object bool) error {
			if addr < 0x1000 && !object {
				return refusal.New(syscall.EFAULT, "nothing there")
			}
			return nil
		},
	}
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		for n := range points {
			points[n].Store(nil)
		}
		this = old
	})
	return log
}

func nothing(*Hit, *amd64.Regs) {}

func register4(t *testing.T) {
	t.Helper()
	for n := range 4 {
		got, err := RegisterKwatch(uintptr(0x1000*(n+1)), 8, Write, nothing)
		if err != nil || got != n {
			t.Fatalf("%d: %d, %v", n, got, err)
		}
	}
}

func TestRegisteringTakesTheFirstFreeRegister(t *testing.T) {
	log := onFake(t)
	register4(t)
	_, err := RegisterKwatch(0x9000, 4, ReadWrite, nothing)
	if !errors.Is(err, syscall.EBUSY) || !strings.Contains(err.Error(), "2 w 0x3000 of the kernel;") {
		t.Errorf("a fifth: %v", err)
	}
	if err := UnregisterKwatch(2); err != nil {
		t.Fatal(err)
	}
	if n, err := RegisterKwatch(0x9001, 1, Execute, nothing); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	last := (*log)[len(*log)-1]
	if want := (debugreg.Breakpoint{Addr: 0x9001, Kind: debugreg.Exec, Len: 1, On: true}); last[2] != want || last[3].Addr != 0x4000 {
		t.Errorf("%+v", last)
	}
	if len(*log) != 6 || (*log)[4][2].On {
		t.Errorf("%+v", *log)
	}
}

func TestRefusalsChangeNothing(t *testing.T) {
	log := onFake(t)
	for _, c := range []struct {
		addr   uintptr
		length int
		typ    Type
		h      Handler
		want   syscall.Errno
	}{
		{0x1000, 3, Write, nothing, syscall.EINVAL}, {0x1000, 16, Write, nothing, syscall.EINVAL},
		{0x1001, 2, Write, nothing, syscall.EINVAL}, {0x1004, 8, Write, nothing, syscall.EINVAL},
		{0x1001, 8, Write, nothing, syscall.EINVAL}, {0x1000, 2, Execute, nothing, syscall.EINVAL},
		{0x1000, 8, 9, nothing, syscall.EINVAL}, {0x1000, 8, Write, nil, syscall.EINVAL},
		{0x10, 8, Write, nothing, syscall.EFAULT},
	} {
		if n, err := RegisterKwatch(c.addr, c.length, c.typ, c.h); !errors.Is(err, c.want) {
			t.Errorf("%+v: %d, %v", c, n, err)
		}
	}
	for _, n := range []int{-1, 0, 4} {
		if err := UnregisterKwatch(n); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%d: %v", n, err)
		}
	}
	if len(*log) != 0 || len(All()) != 0 {
		t.Errorf("%v, %v", *log, All())
	}
}

func TestAbandonedHandlersAreNotWatchedFor(t *testing.T) {
	onFake(t)
	register4(t)
	points[1].Load().gone.Store(true)
	if s := wanted(); s[1].On || !s[0].On || !s[3].On {
		t.Errorf("%+v", s)
	}
	if all := rows(); len(all) != 4 || !strings.HasSuffix(all[1].Place, " [DISABLED]") || strings.Contains(all[0].Place, "[") {
		t.Errorf("%+v", all)
	}
}

// TestStepsThatAreNotWatched: a watchpoint of the kernel says how many there have been since it was registered.
func TestStepsThatAreNotWatched(t *testing.T) {
	onFake(t)
	register4(t)
	this.blind = func() uint64 { return 9 } // 7 before
	points[1].Load().user = &user{process: &proc.Process{PID: 7}}
	defer func() { points[1].Load().user = nil }()
	for n, want := range []uint64{2, 0, 2, 2} {
		if got := All()[n].Blind; got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
	if all := rows(); all[0].Place != "0x1000   [2 steps not watched]" || all[1].Place != "0x2000 of process 7  " {
		t.Errorf("%+v", all)
	}
}

func TestWhatIsHitTogether(t *testing.T) {
	onFake(t)
	for _, p := range []struct {
		addr   uintptr
		length int
		typ    Type
	}{{0x1000, 8, Write}, {0x1000, 4, Write}, {0x1000, 8, ReadWrite}, {0x1004, 4, Read}} {
		if _, err := RegisterKwatch(p.addr, p.length, p.typ, nothing); err != nil {
			t.Fatal(err)
		}
	}
	for n, want := range []uint64{0b0100, 0b0101, 0b0000, 0b0100} {
		want |= 0b1111 &^ (1 << n) << beside // may be
		if got := points[n].Load().also; got != want {
			t.Errorf("with %d: %04b, want %04b", n, got, want)
		}
	}
}

func TestFitting(t *testing.T) {
	for _, c := range []struct {
		addr, size uintptr
		typ        Type
		want       int
	}{
		{0x1000, 8, Write, 8}, {0x1000, 24, Write, 8}, {0x1004, 24, Write, 4}, {0x1000, 7, Write, 4},
		{0x1001, 8, Write, 1}, {0x1002, 3, ReadWrite, 2}, {0x1000, 0, Write, 1}, {0x1000, 99, Execute, 1},
	} {
		if got := Fitting(c.addr, c.size, c.typ); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestWithoutAMachine(t *testing.T) {
	if _, err := RegisterKwatch(0x1000, 8, Write, nothing); !errors.Is(err, syscall.ENODEV) {
		t.Error(err)
	}
}

// TestProbesAreTold where a watchpoint of what is executed comes and goes, and of no other.
func TestProbesAreTold(t *testing.T) {
	onFake(t)
	var told []uintptr
	this.recheck = func(addr uintptr) grace.Change {
		told = append(told, addr)
		return grace.Change{}
	}
	for _, typ := range []Type{Execute, Write} {
		n, err := RegisterKwatch(0x1000, 1, typ, nothing)
		if err != nil {
			t.Fatal(err)
		}
		if typ == Execute && len(told) != 1 {
			t.Errorf("%#x when it is registered", told)
		}
		if err := UnregisterKwatch(n); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(told, []uintptr{0x1000, 0x1000}) {
		t.Errorf("%#x", told)
	}
}

// TestModuleLeavesNoWatchpoint, and keeps nobody else's from watching.
func TestModuleLeavesNoWatchpoint(t *testing.T) {
	onFake(t)
	register4(t)
	points[1].Load().owner, points[3].Load().owner = "one", "two"
	forget("one")
	for n, want := range []bool{true, false, true, true} {
		if (points[n].Load() != nil) != want {
			t.Errorf("%d: %v", n, points[n].Load())
		}
	}
}
