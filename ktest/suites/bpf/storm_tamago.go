//go:build tamago

package bpf

import (
	"runtime"
	"sync"
	"sync/atomic"

	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/probe/program"
)

func init() {
	suites.Add("bpf/on_all_cpus_while_collecting", storm)
	suites.Add("bpf/unload_in_flight", unload)
}

// callers call the targets on all CPUs, and the collector, until stop is called.
func callers() (calls *atomic.Uint64, stop func()) {
	calls = new(atomic.Uint64)
	var over atomic.Bool
	var wg sync.WaitGroup
	for range cpu.Num() + 1 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := uint64(0); !over.Load(); n++ {
				if square(n) != n*n || cube(n) != n*n*n {
					panic("another result")
				}
				calls.Add(1)
				if n%64 == 0 {
					runtime.Gosched()
				}
			}
		}()
	}
	wg.Add(1)
	go func() {
		defer wg.Done()
		for !over.Load() {
			grow(40)
			runtime.GC()
		}
	}()
	return calls, func() { over.Store(true); wg.Wait() }
}

// grow makes a goroutine's stack grow, and probes are hit there.
//
//go:noinline
func grow(depth int) (sum uint64) {
	var room [512]byte
	if depth > 0 {
		sum = grow(depth - 1)
	}
	return sum + square(uint64(depth)) + uint64(room[depth%len(room)])
}

// storm: what the maps count is what the ledgers say, whatever interrupts what.
func storm(t *suites.T) {
	calls, stop := callers()
	var programs []*loaded
	var links []*program.Link
	for _, places := range [][]string{{pkg + "square"}, {"ret:" + pkg + "square"}, {pkg + "cube", "ret:" + pkg + "cube"}, {"tick:1000hz"}, {pkg + "square+0x4", "every:1ms"}} {
		p := load(t, count)
		programs, links = append(programs, p), append(links, p.attach(t, places...))
	}
	hash := load(t, keyed)
	hashed := hash.attach(t, pkg+"square")
	begin := calls.Load()
	t.Until("calls and ticks", func() bool { return calls.Load() > begin+20_000 && links[3].Ledger().Handled > 200 })
	stop()
	hashed.Close()
	for i, p := range programs {
		links[i].Close()
		p.balance(t, links[i], 100)
		p.close()
	}
	sum := uint64(0)
	for i := range uint64(16) {
		sum += word(t, hash.maps[0], key8(i))
	}
	// A key that could not be added may have been added by another CPU at the same time.
	if got := hashed.Ledger(); got.Unexplained() != 0 || got.Handled-hash.Recursion()-sum > hash.maps[0].Lost() {
		t.Errorf("%+v: the hash has %d, %d hits were inside of others, %d did not fit", got, sum, hash.Recursion(), hash.maps[0].Lost())
	}
	hash.close()
}

// keyed counts its hits in a hash that all CPUs share, by the low bits of the argument.
const keyed = `
	map calls hash 8 8 64
	r6 = *(u64 *)(r1 + 80)
	r6 &= 15
	*(u64 *)(r10 - 8) = r6
	*(u64 *)(r10 - 16) = 0
	r1 = map[idx:0]
	r2 = r10
	r2 += -8
	r3 = r10
	r3 += -16
	r4 = 1
	call 2
	r1 = map[idx:0]
	r2 = r10
	r2 += -8
	call 1
	if r0 == 0 goto out
	r1 = 1
	lock *(u64 *)(r0 + 0) += r1
out:	r0 = 0
	exit`

// unload: programs are loaded, attached and closed while they are hit; nothing is lost, and no CPU is in
// one whose memory is used again.
func unload(t *suites.T) {
	_, stop := callers()
	for i := range suites.Rounds(18, 30) { // each place with each way to end is in six
		p := load(t, count)
		l := p.attach(t, []string{pkg + "square", "ret:" + pkg + "cube", "tick:2000hz"}[i%3])
		t.Until("hits", func() bool { return l.Ledger().Handled > 3 })
		if i%2 == 0 {
			l.Close() // the counts are to be read before the map goes
			p.balance(t, l, 3)
		}
		p.close()
	}
	stop()
}
