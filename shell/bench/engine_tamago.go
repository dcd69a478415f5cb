//go:build tamago

package bench

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/probe/program"
	"sonde/probe/types"
)

// engine measures what the engine of programs does before the first hit: it verifies and compiles a
// program of one line, attaches one to 1,000 functions and detaches it, and unpacks the table of Go's types.
func engine(w io.Writer) error {
	places, err := probeable(1000)
	if err != nil {
		return err
	}
	for _, r := range []struct {
		name string
		do   func() (time.Duration, error)
	}{
		{"engine_load", loadProgram},
		{"engine_attach_1000", func() (time.Duration, error) { in, _, err := attachMany(places); return in, err }},
		{"engine_detach_1000", func() (time.Duration, error) { _, out, err := attachMany(places); return out, err }},
		{"engine_types", func() (time.Duration, error) {
			runtime.GC() // of the run before; a collection meanwhile takes 50 million instructions more
			from := time.Now()
			_, err := types.Load()
			return time.Since(from), err
		}},
	} {
		if err := timed(w, r.name, r.do); err != nil {
			return err
		}
	}
	return nil
}

// loadProgram loads what bt makes of kprobe:F { @[7] = count(); }.
func loadProgram() (time.Duration, error) {
	p, maps, err := program.Assemble("engine", keyed)
	if err != nil {
		return 0, err
	}
	from := time.Now()
	prog, err := load(p, maps)
	took := time.Since(from)
	if err == nil {
		prog.Close()
	}
	return took, err
}

// attachMany returns how long it takes to attach a program to places, and to detach it.
func attachMany(places []string) (in, out time.Duration, err error) {
	p, maps, err := program.Assemble("engine", counting)
	if err != nil {
		return 0, 0, err
	}
	prog, err := load(p, maps)
	if err != nil {
		return 0, 0, err
	}
	from := time.Now()
	_, err = prog.AttachTo(nil, places...)
	in = time.Since(from)
	from = time.Now()
	prog.Close()
	return in, time.Since(from), err
}

// probeable returns the names of n functions that can have a probe.
func probeable(n int) (places []string, err error) {
	var all []*kprobes.Kprobe
	for s := range kallsyms.Kernel().Text {
		if len(all) == n {
			break
		}
		if !strings.HasPrefix(s.Name, "sonde/") || s.Size == 0 {
			continue
		}
		k := &kprobes.Kprobe{Addr: uintptr(s.Addr), PreHandler: count}
		if kprobes.RegisterKprobe(k) == nil {
			all, places = append(all, k), append(places, fmt.Sprintf("%#x", s.Addr))
		}
	}
	kprobes.UnregisterKprobes(all)
	if len(places) < n {
		return nil, fmt.Errorf("only %d functions to probe", len(places))
	}
	return places, nil
}
