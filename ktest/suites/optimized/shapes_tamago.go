//go:build tamago

package optimized

import (
	"errors"
	"slices"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kprobes"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/every_boundary_of_every_shape", func(t *suites.T) { everyShape(t, clobbers) })
	suites.Add("optimized/every_boundary_of_every_go_function", func(t *suites.T) { everyFunction(t, clobbers) })
	suites.Add("optimized/every_fifth_byte_at_once", severalAtOnce)
}

// accepted returns those of ks that can be registered. It tries each of them disabled, which is
// quick.
func accepted(t *suites.T, ks []*kprobes.Kprobe) (list []*kprobes.Kprobe) {
	for _, k := range ks {
		k.Flags = kprobes.FlagDisabled
		switch err := kprobes.RegisterKprobe(k); {
		case err == nil:
			list = append(list, k)
		case !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.EILSEQ):
			t.Errorf("%v", err)
		}
	}
	kprobes.UnregisterKprobes(list)
	for _, k := range list {
		k.Flags = 0
	}
	return list
}

// clobber is a handler that changes all it may; clobbers makes a probe with it.
func clobber(*kprobes.Kprobe, *amd64.Regs) int { targets.Clobber(); return 0 }
func clobbers(addr uintptr) *kprobes.Kprobe    { return at(addr, clobber) }

// eachBoundary registers probes on the first instruction of all functions, then
// on the second of all, and so on, and calls check with those that are hit by a
// jump, or lead to code that has the handler in it. One at a time would take minutes on some machines.
func eachBoundary(t *suites.T, entries []uintptr, probe func(uintptr) *kprobes.Kprobe, check func(jumps []*kprobes.Kprobe, unregister func())) (done, all int) {
	offs := make([][]uintptr, len(entries))
	for i, addr := range entries {
		offs[i] = boundaries(t, t.Containing(addr))
		all += len(offs[i])
	}
	for n := 0; ; n++ {
		var ks []*kprobes.Kprobe
		for i, addr := range entries {
			if n < len(offs[i]) {
				ks = append(ks, probe(addr+offs[i][n]))
			}
		}
		if len(ks) == 0 {
			return done, all
		}
		ks = accepted(t, ks)
		register(t, ks...)
		optimize(t)
		jumps := slices.DeleteFunc(slices.Clone(ks), func(k *kprobes.Kprobe) bool {
			d, err := kprobes.Describe("", k.Addr)
			if err != nil || k.Place != nil && d.Jumped && !d.Fused {
				t.Errorf("%s is not fused: %s, %v", name(k.Addr), d.Unfit, err)
			}
			return !d.Jumped && d.Stub == nil
		})
		done += len(jumps)
		check(jumps, func() { kprobes.UnregisterKprobes(ks) })
	}
}

// everyShape sets a probe on each instruction of each shape that a jump can
// replace, and compares all registers, flags, memory, and the number of hits.
func everyShape(t *suites.T, probe func(uintptr) *kprobes.Kprobe) {
	t.OneProcessor()
	type subject struct {
		*targets.Shape
		want  []targets.Result
		often map[uintptr]uint64
	}
	subjects, entries := map[string]subject{}, []uintptr{}
	for _, s := range targets.Shapes() {
		want, err := s.Run()
		t.Must(err)
		subjects[t.Containing(s.Entry).Name] = subject{&s, want, executions(t, &s)}
		entries = append(entries, s.Entry)
	}
	hits := uint64(0)
	done, all := eachBoundary(t, entries, probe, func(jumps []*kprobes.Kprobe, unregister func()) {
		got := make([][]targets.Result, len(jumps))
		addrs := make([]uintptr, len(jumps))
		for i, k := range jumps {
			var err error
			addrs[i] = k.Addr
			if got[i], err = subjects[t.Containing(k.Addr).Name].Run(); err != nil {
				t.Errorf("jump at %s: %v", name(k.Addr), err)
			}
		}
		unregister()
		for i, addr := range addrs {
			s := subjects[t.Containing(addr).Name]
			for j := range got[i] {
				if d := got[i][j].Diff(&s.want[j]); d != "" {
					t.Errorf("jump at %s, input %d: %s", name(addr), j, d)
				}
			}
			account(t, jumps[i], name(addr), s.often[addr-s.Entry], 0)
			hits += jumps[i].Hits()
		}
	})
	clean(t)
	t.Logf("%d of %d places optimized, %d hits", done, all, hits)
	if done < all/3 { // shapes are short: many end within the jump
		t.Errorf("too few")
	}
}

// everyFunction does so with what the compiler makes, where only the entries'
// number of hits is known, and only of functions that nothing else calls.
func everyFunction(t *suites.T, probe func(uintptr) *kprobes.Kprobe) {
	t.OneProcessor()
	var entries []uintptr
	calls := map[uintptr]uint64{}
	for _, f := range targets.Funcs() {
		addr := uintptr(t.Function(targetsPkg + f.Name).Addr)
		entries = append(entries, addr)
		if !slices.Contains(called, f.Name) {
			calls[addr] = f.Calls
		}
	}
	done, all := eachBoundary(t, entries, probe, func(jumps []*kprobes.Kprobe, unregister func()) {
		addrs := make([]uintptr, len(jumps))
		for i, k := range jumps {
			addrs[i] = k.Addr
		}
		for _, f := range targets.Funcs() {
			if got := f.Call(); got != f.Want {
				t.Errorf("%s, among %s and others, returns %d, want %d", f.Name, name(addrs[0]), got, f.Want)
			}
		}
		unregister()
		for i, k := range jumps {
			n, known := calls[addrs[i]]
			if !known {
				n = k.Hits()
			}
			account(t, k, name(addrs[i]), n, 0)
		}
	})
	clean(t)
	t.Logf("%d of %d places optimized", done, all)
	if done < all*7/10 {
		t.Errorf("too few")
	}
}

// severalAtOnce puts as many jumps into one function as there is room for.
func severalAtOnce(t *suites.T) {
	t.OneProcessor()
	most := 0
	for _, f := range targets.Funcs() {
		k := &kprobes.Kprobe{SymbolName: targetsPkg + f.Name}
		register(t, k)
		addr := k.Addr
		kprobes.UnregisterKprobe(k)
		var ks []*kprobes.Kprobe
		next := uintptr(0)
		for _, off := range boundaries(t, t.Containing(addr)) {
			if off < next {
				continue
			}
			k := at(addr+off, pre)
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			ks = append(ks, k)
			next = off + 20
			if len(ks) == 1 {
				next = off + 40 // after the stack check
			}
		}
		optimize(t)
		n := 0
		for _, k := range ks {
			if kprobes.Optimized(k.Addr) {
				n++
			}
		}
		for range 3 {
			if got := f.Call(); got != f.Want {
				t.Errorf("%s with %d jumps returns %d, want %d", f.Name, n, got, f.Want)
			}
		}
		kprobes.UnregisterKprobes(ks)
		account(t, ks[0], f.Name, 3*f.Calls, 0)
		most = max(most, n)
	}
	clean(t)
	t.Logf("up to %d jumps in one function", most)
	if most < 3 {
		t.Errorf("too few")
	}
}
