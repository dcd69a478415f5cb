//go:build tamago

package bench

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/optprobe"
)

// manyProbes prints the cost of a hit, and of registering and unregistering a probe, with so many probes
// registered: NAME_with_N. Neither may depend on the number: hits by at most a fifth, registering
// by at most half.
func manyProbes(w io.Writer) error {
	for _, n := range []int{1, 100, 5000} {
		others, err := elsewhere(n - 1)
		if err != nil {
			return err
		}
		if err := loaded(w, n, others); err != nil {
			return fmt.Errorf("with %d probes: %w", n, err)
		}
	}
	return nil
}

func loaded(w io.Writer, n int, others []*kprobes.Kprobe) error {
	if err := kprobes.RegisterKprobes(others); err != nil {
		return err
	}
	defer kprobes.UnregisterKprobes(others)
	for _, name := range []string{"b", "o", "r"} {
		r := rows[slices.IndexFunc(rows, func(r row) bool { return r.name == name })]
		r.name = fmt.Sprintf("%s_with_%d", name, n)
		if err := r.run(w); err != nil {
			return err
		}
	}
	if err := optimize(false); err != nil {
		return err
	}
	return timed(w, fmt.Sprintf("regpair_with_%d", n), pair)
}

// apart is the least number of bytes between two probes: a jump covers some.
const apart = 24

// elsewhere returns n probes on instructions that neither a row nor registering executes, because
// their hits would count. It tries that out.
func elsewhere(n int) (ks []*kprobes.Kprobe, err error) {
	defer optprobe.Optimization.Store(optprobe.Optimization.Get())
	optprobe.Optimization.Store(false)
	all := places(n + n/4 + 200)
	if err := kprobes.RegisterKprobes(all); err != nil {
		return nil, err
	}
	_, err = pair()
	kprobes.UnregisterKprobes(all)
	for _, k := range all {
		if k.Ledger().Entered == 0 && len(ks) < n {
			ks = append(ks, &kprobes.Kprobe{Addr: k.Addr, PreHandler: unheard})
		}
	}
	if err == nil && len(ks) < n {
		err = fmt.Errorf("only %d places to probe, not %d", len(ks), n)
	}
	return ks, err
}

// places returns probes on n instructions, in functions that can be probed everywhere.
func places(n int) (ks []*kprobes.Kprobe) {
	for s := range kallsyms.Kernel().Text {
		if len(ks) >= n {
			break
		}
		if strings.HasPrefix(s.Name, "runtime") || strings.HasPrefix(s.Name, "internal/") || strings.HasPrefix(s.Name, "sonde/") {
			continue
		}
		var in []*kprobes.Kprobe
		next := 0
		insn.Walk(kprobes.Original(uintptr(s.Addr), uintptr(s.Size)), func(off int, _ insn.Inst) bool {
			if off >= next {
				in = append(in, &kprobes.Kprobe{Addr: uintptr(s.Addr) + uintptr(off), PreHandler: unheard})
				next = off + apart
			}
			return true
		})
		if kprobes.RegisterKprobes(in) == nil { // otherwise it has an instruction that cannot be probed
			kprobes.UnregisterKprobes(in)
			ks = append(ks, in...)
		}
	}
	return ks
}

// unheard does not count: these are not hits of the row.
func unheard(*kprobes.Kprobe, *amd64.Regs) int { return 0 }
