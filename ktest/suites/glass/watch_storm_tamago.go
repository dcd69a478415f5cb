//go:build tamago

package glass

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/ktest/suites"
	"sonde/kwatch"
	"sonde/probe/glass"
)

func init() {
	suites.Add("glass/watch_storm", watchStorm)
}

// watchStorm: all CPUs write to a watched word while cameras come and go, and the collector runs. What a
// camera has when it is taken away keeps the rules.
func watchStorm(t *suites.T) {
	const rounds = 20
	reg, err := kwatch.RegisterKwatch(uintptr(unsafe.Pointer(&watchedWord)), 8, kwatch.Write, func(*kwatch.Hit, *amd64.Regs) {})
	t.Must(err)
	var stop atomic.Bool
	for range cpu.Num() {
		t.Go(func() {
			for v := uint64(0); !stop.Load(); v++ {
				writeWord(v)
				if v%64 == 0 {
					runtime.Gosched()
				}
			}
		})
	}
	t.Go(func() {
		for !stop.Load() {
			runtime.GC()
			runtime.Gosched()
		}
	})
	over := 0
	for i := range rounds {
		film, err := glass.New(uint64(1+i*7%50), -1)
		t.Must(err)
		c, err := kwatch.RegisterCamera(reg, film)
		t.Must(err)
		for n := 0; n < i%5*20 && !film.Done(); n++ {
			runtime.Gosched()
		}
		kwatch.UnregisterCamera(c)
		frames, lost := film.Recorded()
		if film.Done() {
			over++
			stagesAre(t, frames, glass.Watched, glass.Accessed, glass.Enters, glass.Returned, glass.GoesOn)
		}
		for j := range frames {
			if f := &frames[j]; f.Goroutine != frames[0].Goroutine || f.CPU != frames[0].CPU || f.Regs != frames[0].Regs || lost != 0 {
				t.Errorf("frame %d: goroutine %d, CPU %d, %d lost", j+1, f.Goroutine, f.CPU, lost)
			}
		}
		film.Close()
	}
	stop.Store(true)
	t.Wait()
	t.Must(kwatch.UnregisterKwatch(reg))
	t.Logf("%d of %d hits recorded to their end", over, rounds)
	if over < rounds/10 {
		t.Errorf("%d recorded", over)
	}
}
