//go:build tamago

package handlers

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/module"
	"sonde/kprobes"
	"sonde/kwatch"
	"sonde/optprobe"
)

// The module strays registers a probe whose handler sends the code somewhere else, and calls what is
// probed. It is not a case, because most of these end the kernel. TestStraysAreNamed looks at what
// the log says.
var strayHow string

func init() {
	module.Register(&module.Module{
		Name: "strays", Doc: "handlers that change where execution continues",
		Params: module.Params{"how": module.String(&strayHow, "which handler, and how").Given()},
		Init:   stray,
	})
}

func skippable()

const wildIP, wildSP = 0xdead0000, 0xbad0000

func strayPreIP(_ *kprobes.Kprobe, r *amd64.Regs) int      { r.IP = wildIP; return 1 }
func strayPreSP(_ *kprobes.Kprobe, r *amd64.Regs) int      { r.SP = wildSP; return 0 }
func strayPost(_ *kprobes.Kprobe, r *amd64.Regs, _ uint64) { r.IP = wildIP }
func strayReturn(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
	r.IP = wildIP
	return 0
}
func strayEntry(_ *kprobes.KretprobeInstance, r *amd64.Regs) int {
	r.SP = wildSP
	return 0
}
func strayFault(_ *kprobes.Kprobe, r *amd64.Regs, _ int) int { r.IP = wildIP; return 1 }

// strayFar sets an SP that a helper computes, by a pointer.
func strayFar(_ *kprobes.Kprobe, r *amd64.Regs) int { put(&r.SP); return 0 }

//go:noinline
func put(to *uint64) { *to = wildSP }

func strayOne(*kprobes.Kprobe, *amd64.Regs) int { return 1 }

// watchedByStray is what stray watches.
var watchedByStray uint64

func strayWatchIP(_ *kwatch.Hit, r *amd64.Regs) { r.IP = wildIP }
func strayWatchSP(_ *kwatch.Hit, r *amd64.Regs) { put(&r.SP) }

//go:noinline
func strayWatched() { watchedByStray++ }

// strayWatch is stray for watchpoints.
func strayWatch(addr uintptr, typ kwatch.Type, length int, h kwatch.Handler) error {
	reg, err := kwatch.RegisterKwatch(addr, length, typ, h)
	if err != nil {
		return err
	}
	strayWatched()
	return kwatch.UnregisterKwatch(reg)
}

//go:noinline
func derefs(p *uint64) uint64 { return *p }

func stray() error {
	at := reflect.ValueOf(victim).Pointer()
	call := func() { victim(7) }
	if !strings.HasSuffix(strayHow, "-jump") { // a jump may come before the calls, or after one of them
		defer optprobe.Optimization.Store(optprobe.Optimization.Get())
		if err := optprobe.Optimization.Store(false); err != nil {
			return err
		}
	}
	k := &kprobes.Kprobe{Addr: at}
	var rp *kprobes.Kretprobe
	switch strayHow {
	case "pre-ip":
		k.PreHandler = strayPreIP
	case "pre-sp":
		k.PreHandler = strayPreSP
	case "far-sp":
		k.PreHandler = strayFar
	case "post-ip":
		k.PostHandler = strayPost
	case "fault-ip":
		k.Addr, k.FaultHandler, call = reflect.ValueOf(derefs).Pointer(), strayFault, func() { derefs(nil) }
	case "return-ip":
		rp = &kprobes.Kretprobe{Handler: strayReturn}
	case "entry-sp":
		rp = &kprobes.Kretprobe{EntryHandler: strayEntry}
	case "watch-ip":
		return strayWatch(reflect.ValueOf(strayWatched).Pointer(), kwatch.Execute, 1, strayWatchIP)
	case "watch-sp":
		return strayWatch(uintptr(unsafe.Pointer(&watchedByStray)), kwatch.Write, 8, strayWatchSP)
	case "one":
		k = &kprobes.Kprobe{SymbolName: "sonde/ktest/suites/handlers.skippable.abi0", PreHandler: strayOne,
			PostHandler: func(*kprobes.Kprobe, *amd64.Regs, uint64) {}}
		call = skippable
	case "one-jump", "pre-ip-jump":
		if k.PreHandler = strayOne; strayHow == "pre-ip-jump" {
			k.PreHandler = strayPreIP
		}
		beside := &kprobes.Kprobe{Addr: at, PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
		if err := kprobes.RegisterKprobe(beside); err != nil {
			return err
		}
		defer kprobes.UnregisterKprobe(beside)
		call = func() {
			for !kprobes.Optimized(k.Addr) {
				time.Sleep(time.Millisecond)
			}
			victim(7)
		}
	default:
		return fmt.Errorf("strays: how=%s is not known", strayHow)
	}
	if err := strayProbe(k, rp, at); err != nil {
		return err
	}
	for range 3 {
		call()
	}
	kprobes.UnregisterKprobe(k)
	return nil
}

func strayProbe(k *kprobes.Kprobe, rp *kprobes.Kretprobe, at uintptr) error {
	if rp == nil {
		return kprobes.RegisterKprobe(k)
	}
	rp.KP.Addr = at
	return kprobes.RegisterKretprobe(rp)
}
