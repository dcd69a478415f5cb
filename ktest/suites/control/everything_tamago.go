//go:build tamago

package control

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"sonde/kallsyms"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("control/everything_else_can_be_probed", everythingElse)
}

// everythingElse registers a probe on the entry of every function of the image: what is
// refused is the blacklist, each with its path, and functions that hold data or begin
// with an instruction that cannot be executed elsewhere.
func everythingElse(t *suites.T) {
	t.OneProcessor()
	black := kprobes.Blacklisted()
	kinds, others := map[string]int{}, map[string]int{}
	var accepted []*kprobes.Kprobe
	for s := range kallsyms.Kernel().Text {
		k := &kprobes.Kprobe{Addr: uintptr(s.Addr)}
		k.Flags.Set(kprobes.FlagDisabled) // no CPU has to be told
		err := kprobes.RegisterKprobe(k)
		why, listed := black[s.Addr]
		switch {
		case err == nil:
			if accepted = append(accepted, k); listed {
				t.Errorf("%s can be probed: %s", s.Name, why)
			}
		case listed:
			kind, _, _ := strings.Cut(why, ":")
			if kinds[kind]++; !errors.Is(err, syscall.EINVAL) || !strings.HasSuffix(err.Error(), s.Name+" may not be probed: "+why) {
				t.Errorf("%s: %v, want EINVAL and %q", s.Name, err, why)
			}
		default:
			reason := ownReason(err)
			if others[reason]++; reason == "" {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
	kprobes.UnregisterKprobes(accepted)
	if len(accepted) < 20*len(black) {
		t.Errorf("only %d functions can be probed, %d are in the blacklist", len(accepted), len(black))
	}
	t.Logf("%d functions can be probed; blacklist: %s; refused besides: %s", len(accepted), counts(kinds), counts(others))
}

// ownReasons are what, beside the blacklist, keeps a probe off the entry of a function.
var ownReasons = []string{"does not decode to its end", "the instruction cannot be executed elsewhere"}

// ownReason returns which of them err gives, "" for none.
func ownReason(err error) string {
	for _, why := range ownReasons {
		if errors.Is(err, syscall.EILSEQ) && strings.Contains(err.Error(), why) {
			return why
		}
	}
	return ""
}

// counts writes numbers, the greatest first.
func counts(m map[string]int) string {
	var b strings.Builder
	for _, what := range slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(m[b]-m[a], cmp.Compare(a, b)) }) {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", what, m[what])
	}
	return b.String()
}
