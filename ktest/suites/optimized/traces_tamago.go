//go:build tamago

package optimized

import (
	"runtime"
	"strings"

	"sonde/arch/amd64"
	"sonde/kernel/die"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/kprobes/detour"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
)

func init() {
	suites.Add("optimized/stacks_never_show_a_detour", stacksShow)
	suites.Add("optimized/dump_in_a_handler_shows_the_callers", dumpInHandler)
	suites.Add("optimized/addresses_in_a_detour_are_translated", translated)
}

//go:noinline
func outermost(look func()) int { return outer(look) + 1 }

//go:noinline
func outer(look func()) int { return inner(look) + 1 }

//go:noinline
func inner(look func()) int { look(); return 1 }

// frames returns the callers with their lines.
func frames() string {
	pcs := make([]uintptr, 50)
	all := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	var b strings.Builder
	for {
		f, more := all.Next()
		b.WriteString(f.Function + "\n")
		if !more {
			return b.String()
		}
	}
}

// stacksShow looks from below functions with a jump at the entry and at every
// other place with room for one, calls among them.
func stacksShow(t *suites.T) {
	t.OneProcessor()
	var probed string
	look := func() { probed = frames(); runtime.GC() }
	outermost(look)
	plain := probed
	done := 0
	for _, f := range []any{outermost, outer, inner} {
		for _, off := range boundaries(t, t.Containing(entry(f))) {
			k := at(entry(f)+off, pre)
			if kprobes.RegisterKprobe(k) != nil {
				continue
			}
			optimize(t)
			if kprobes.Optimized(k.Addr) {
				done++
			}
			outermost(look)
			kprobes.UnregisterKprobe(k)
			if plain != probed || plain == "" {
				t.Errorf("without probes:\n%s\nwith one at %s:\n%s", plain, name(entry(f)+off), probed)
			}
		}
	}
	clean(t)
	t.Logf("%d places optimized", done)
	if done < 15 {
		t.Errorf("too few")
	}
}

// dumpInHandler makes an optimized handler print the stack it came from.
func dumpInHandler(t *suites.T) {
	since := suites.Mark()
	k := at(entry(inner), func(_ *kprobes.Kprobe, r *amd64.Regs) int { die.DumpStack(r); return 0 })
	optimized(t, k)
	outermost(func() {})
	kprobes.UnregisterKprobe(k)
	lines, at := suites.Log(since), 0
	for _, want := range []string{"Call Trace:", "optimized.inner+", "optimized.outer+", "optimized.outermost+", "optimized.dumpInHandler+"} {
		i := strings.Index(lines[at:], want)
		if i < 0 {
			t.Fatalf("no %q where it belongs:\n%s", want, lines)
		}
		at += i
	}
}

// translated asks where each byte of some detours belongs: to the bytes that the
// jump replaces, or right after. That is what a report of a trap there shows.
func translated(t *suites.T) {
	for _, f := range []any{targets.Leaf, targets.Small, targets.Medium, targets.Large, targets.Switch} {
		k := at(entry(f), pre)
		optimized(t, k)
		to := jumpTarget(k.Addr)
		last, end := uintptr(0), to+detour.Size-(to-kprobes.Detours().Start())%detour.Size
		for ip := to; ip < end; ip++ {
			o := kprobes.OriginalIP(ip)
			if o < k.Addr || o > k.Addr+40 || o < last {
				t.Errorf("%s: byte %d of the detour belongs to %#x, the one before to %#x", name(k.Addr), ip-to, o, last)
				break
			}
			last = o
		}
		if sym := die.Symbol(uint64(kprobes.OriginalIP(to))); !strings.HasPrefix(sym, kallsymsName(k.Addr)) {
			t.Errorf("the detour of %s is shown as %s", name(k.Addr), sym)
		}
		if ip := kprobes.OriginalIP(k.Addr); ip != k.Addr || text.Bytes(to, 1) != nil {
			t.Errorf("an address in text is translated to %#x", ip)
		}
		kprobes.UnregisterKprobe(k)
	}
	clean(t)
}
