//go:build tamago

package kprobes

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"sonde/arch/amd64"
	"sonde/kallsyms"
	"sonde/kernel/cpu"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("kprobes/functions_that_everything_uses", usedByEverything)
	suites.Add("kprobes/hits_neither_allocate_nor_lock", neitherAllocateNorLock)
	suites.Add("kprobes/many_functions_at_once", manyAtOnce)
}

// load starts goroutines that allocate, wait, sleep, read files, grow stacks and
// panic until the returned function is called, which ends them.
func startLoad(t *suites.T) (end func()) {
	var stop atomic.Bool
	work := func(f func(i int)) {
		t.Go(func() {
			for i := 0; !stop.Load(); i++ {
				f(i)
			}
		})
	}
	c := make(chan int, 1)
	var mu sync.Mutex
	var grown []int
	for range cpu.Num() {
		work(func(i int) {
			m := map[string]int{}
			for j := range 20 {
				m[fmt.Sprint(i, j)] = j
			}
			if len(m) != 20 {
				t.Errorf("a map has %d entries", len(m))
			}
		})
		work(func(i int) {
			if s := strings.Repeat(strings.ToUpper("ab"), 5+i%20); len(s) != 2*(5+i%20) {
				t.Errorf("a string has length %d", len(s))
			}
			mu.Lock()
			mu.Unlock()
			runtime.Gosched()
		})
	}
	work(func(i int) {
		if grown = append(grown, i); len(grown) > 100 {
			grown = nil
		}
		c <- i
		if v := <-c; v != i {
			t.Errorf("%d went into a channel, %d came out", i, v)
		}
		go func() { targets.Grow(50) }()
		time.Sleep(200 * time.Microsecond)
	})
	work(func(i int) {
		f, err := vfs.Open("/proc/version", os.O_RDONLY)
		if err != nil {
			t.Errorf("%v", err)
			return
		}
		buf := make([]byte, 64)
		if n, _ := f.Read(buf); n < 10 {
			t.Errorf("/proc/version has %d bytes", n)
		}
		f.Close()
		defer func() { recover() }()
		panic(i)
	})
	work(func(int) { runtime.GC(); time.Sleep(time.Millisecond) })
	return func() { stop.Store(true); t.Wait() }
}

// busyFunctions are what that load is made of. must: it is hit in any case.
var busyFunctions = []struct {
	name string
	must bool
}{
	{"runtime.mallocgc", true}, {"runtime.newobject", true}, {"runtime.growslice", true},
	{"runtime.schedule", true}, {"runtime.findRunnable", true}, {"runtime.execute", true},
	{"runtime.gopark", true}, {"runtime.goready", false}, {"runtime.newproc", true}, {"runtime.casgstatus", true},
	{"runtime.newstack", true}, {"runtime.copystack", true}, {"runtime.morestack.abi0", true},
	{"runtime.lock2", true}, {"runtime.unlock2", true}, {"runtime.nanotime1.abi0", false},
	{"runtime.futex.abi0", false}, {"runtime.memmove", true}, {"runtime.memclrNoHeapPointers", true},
	{"runtime.gcDrain", true}, {"runtime.greyobject", false}, {"runtime.wbBufFlush", false},
	{"runtime.scanstack", true}, {"runtime.(*unwinder).next", true}, {"runtime.gopanic", true},
	{"runtime.chansend", true}, {"runtime.mapassign_faststr", false}, {"runtime.goexit0", true},
	{"runtime.systemstack.abi0", false}, {"runtime.mcall", false}, {"runtime.gogo.abi0", false},
	{"runtime.sysmon", false}, {"runtime.stopTheWorldWithSema", true}, {"time.Now", false},
	{"sonde/kernel/vfs.Read", true}, {"fmt.Sprint", true}, {"strings.Repeat", true},
	{"sonde/kernel/irq.timer", false}, {"sonde/kernel/cpu.EOI", false}, {"sonde/kernel/cpu.Nanotime", false},
	{"sonde/kernel/cpu.IRQRestore.abi0", false}, {"sonde/kernel/smp.run", false},
}

// usedByEverything probes, one after the other, functions that the system
// cannot go on without, at entry and return, while all CPUs are in them.
func usedByEverything(t *suites.T) {
	t.OneMachine()
	t.SeveralProcessors()
	end := startLoad(t)
	var list []string
	for _, f := range busyFunctions {
		sym, err := kallsyms.Kernel().Addr(f.name)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		k := &kprobes.Kprobe{SymbolName: sym.Name, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
		err = kprobes.RegisterKprobe(k)
		if errors.Is(err, syscall.EINVAL) {
			list = append(list, f.name+" -")
			continue
		}
		t.Must(err)
		until := time.Now().Add(time.Duration(suites.Rounds(20, 20)) * time.Millisecond)
		t.Until("a hit on "+f.name, func() bool {
			time.Sleep(time.Millisecond)
			return time.Now().After(until) && (k.Hits() > 0 || !f.must)
		})
		kprobes.UnregisterKprobe(k)
		expect(t, k, k.Hits(), k.NMissed())
		list = append(list, fmt.Sprint(f.name, " ", k.Hits()))
	}
	end()
	t.Logf("hits, - for what may not be probed: %s", strings.Join(list, ", "))
	clean(t)
}

// neitherAllocateNorLock: a hit that came by a probed function itself would be a
// hit within a hit, which is missed. With a post-handler, hits run with interrupts
// off, so nothing else can come between.
func neitherAllocateNorLock(t *suites.T) {
	t.OneProcessor()
	end := startLoad(t)
	for _, name := range []string{"runtime.mallocgc", "runtime.newobject", "runtime.growslice", "runtime.lock2", "runtime.unlock2"} {
		k := arm(t, &kprobes.Kprobe{SymbolName: name, PostHandler: postNothing,
			PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }})
		t.Until("a hundred hits on "+name, func() bool { time.Sleep(time.Millisecond); return k.Hits() > 100 })
		kprobes.UnregisterKprobe(k)
		expect(t, k, k.Hits(), 0)
	}
	end()
	clean(t)
}

// manyAtOnce probes several hundred functions of the runtime and the library at once, each at about
// its third instruction.
func manyAtOnce(t *suites.T) {
	var all []*kprobes.Kprobe
	n := 0
	for s := range kallsyms.Kernel().Text {
		if !strings.HasPrefix(s.Name, "runtime.") && !strings.HasPrefix(s.Name, "sync.") && !strings.HasPrefix(s.Name, "fmt.") || s.Size < 40 {
			continue
		}
		if n++; n%4 != 0 {
			continue
		}
		offs, list := boundaries(t, s)
		i := n / 4 % min(5, len(offs))
		if list[i].Movable() == 0 {
			all = append(all, &kprobes.Kprobe{Addr: uintptr(s.Addr) + offs[i]})
		}
	}
	var armed []*kprobes.Kprobe
	for _, k := range all {
		if err := kprobes.RegisterKprobe(k); err == nil {
			armed = append(armed, k)
		} else if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EILSEQ) {
			t.Errorf("%v", err)
		}
	}
	end := startLoad(t)
	time.Sleep(suites.Storm(1) / 2)
	end()
	kprobes.UnregisterKprobes(armed)
	var hits, hit uint64
	for _, k := range armed {
		expect(t, k, k.Hits(), k.NMissed())
		hits += k.Hits()
		if k.Hits() > 0 {
			hit++
		}
	}
	t.Logf("%d probes, %d of them hit, %d hits", len(armed), hit, hits)
	clean(t)
}
