//go:build tamago

package control

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

const dir = "/sys/kernel/debug/kprobes/"

func init() {
	suites.Add("control/list_has_a_line_per_probe", listFormat)
	suites.Add("control/list_marks_the_disabled", listDisabled)
	suites.Add("control/enabled_disarms_all_and_changes_none", enabledFile)
	suites.Add("control/enabled_takes_nothing_else", enabledRefuses)
	suites.Add("control/blacklist_is_obeyed", blacklistObeyed)
	suites.Add("control/stats_explain_every_hit", statsExplain)
}

// read returns the lines of a control file.
func read(t *suites.T, name string) []string {
	b, err := vfs.ReadFile(dir + name)
	t.Must(err)
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// write writes to a control file.
func write(name, text string) error { return vfs.WriteFile(dir+name, []byte(text)) }

// about returns the lines that name this package's functions; when probes are
// optimized, and are marked so, is up to another thread.
func about(lines []string) (mine []string) {
	for _, l := range lines {
		if strings.Contains(l, "suites/control.") {
			mine = append(mine, strings.TrimRight(strings.TrimSuffix(l, "[OPTIMIZED]"), " "))
		}
	}
	return mine
}

var listLine = regexp.MustCompile(`^([0-9a-f]{16})  ([krj])  (sonde/ktest/suites/control\.\w+)\+(0x[0-9a-f]+)((?:    (?:\[GONE\])?\[DISABLED\])?)$`)

// expectList compares the list with lines of the form "k one+0x0 [DISABLED]".
func expectList(t *suites.T, want ...string) {
	var have []string
	last := uint64(0)
	for _, l := range about(read(t, "list")) {
		m := listLine.FindStringSubmatch(l)
		if m == nil {
			t.Errorf("list has the line %q", l)
			continue
		}
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		if addr < last {
			t.Errorf("list is not in order of address at %q", l)
		}
		last = addr
		_, short, _ := strings.Cut(m[3], "control.")
		if f := byName[short]; f != nil {
			off, _ := strconv.ParseUint(m[4], 0, 64)
			if addr != uint64(entry(f))+off {
				t.Errorf("%q: the address of %s is %x", l, short, entry(f))
			}
		}
		have = append(have, strings.TrimSpace(m[2]+" "+short+"+"+m[4]+" "+strings.TrimSpace(m[5])))
	}
	if fmt.Sprint(sorted(have)) != fmt.Sprint(sorted(want)) {
		t.Errorf("list has %q, want %q", have, want)
	}
}

func listFormat(t *suites.T) {
	expectList(t)
	k, inside, rp, j := onOne(), onOne(), returnOfTwo(), jumperOnThree()
	off := second(t, one)
	inside.Addr += off
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{k, inside}))
	t.Must(kprobes.RegisterKretprobe(rp))
	t.Must(kprobes.RegisterJprobe(j))
	expectList(t, "k one+0x0", fmt.Sprintf("k one+%#x", off), "r two+0x0", "j three+0x0")
	kprobes.UnregisterKprobe(k)
	expectList(t, fmt.Sprintf("k one+%#x", off), "r two+0x0", "j three+0x0")
	kprobes.UnregisterKprobe(inside)
	kprobes.UnregisterKretprobe(rp)
	kprobes.UnregisterJprobe(j)
	expectList(t)
}

func listDisabled(t *suites.T) {
	k, rp := onOne(), returnOfTwo()
	k.Flags = kprobes.FlagDisabled
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	expectList(t, "k one+0x0 [DISABLED]", "r two+0x0")
	t.Must(kprobes.EnableKprobe(k))
	t.Must(kprobes.DisableKretprobe(rp))
	expectList(t, "k one+0x0", "r two+0x0 [DISABLED]")
	t.Must(kprobes.EnableKretprobe(rp))
	expectList(t, "k one+0x0", "r two+0x0")
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterKretprobe(rp)
}

// enabledFile writes 0 and 1 while one probe is disabled and another enabled.
func enabledFile(t *suites.T) {
	before := suites.TextChanged()
	k, off, rp := onOne(), onTwo(), returnOfThree()
	off.Flags = kprobes.FlagDisabled
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{k, off}))
	t.Must(kprobes.RegisterKretprobe(rp))
	suites.Equal(t, "enabled at first", textOf(t, "enabled"), "1")
	hits(t, "enabled", 1, 0, 1, k, off, rp)

	t.Must(write("enabled", "0\n"))
	suites.Equal(t, "enabled after 0", textOf(t, "enabled"), "0")
	suites.Equal(t, "armed after 0", fmt.Sprint(suites.TextChanged()), fmt.Sprint(before))
	expectList(t, "k one+0x0", "k two+0x0 [DISABLED]", "r three+0x0")
	hits(t, "all off", 1, 0, 1, k, off, rp)

	late := onTwo()
	t.Must(kprobes.RegisterKprobe(late))
	two(1)
	suites.Equal(t, "hits of one registered while off", fmt.Sprint(late.Hits()), "0")

	t.Must(write("enabled", "1\n"))
	suites.Equal(t, "enabled after 1", textOf(t, "enabled"), "1")
	hits(t, "all on again", 2, 0, 2, k, off, rp)
	suites.Equal(t, "hits of one registered while off, now", fmt.Sprint(late.Hits()), "1")
	expectList(t, "k one+0x0", "k two+0x0", "k two+0x0 [DISABLED]", "r three+0x0")
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, off, late})
	kprobes.UnregisterKretprobe(rp)
	suites.Equal(t, "armed at the end", fmt.Sprint(suites.TextChanged()), fmt.Sprint(before))
}

// hits calls all three functions and compares the probes' hits so far.
func hits(t *suites.T, when string, one1, two2, three3 uint64, k, off *kprobes.Kprobe, rp *kprobes.Kretprobe) {
	one(1)
	two(1)
	three(1)
	have := [3]uint64{k.Hits(), off.Hits(), rp.Hits()}
	if want := [3]uint64{one1, two2, three3}; have != want {
		t.Errorf("%s: hits %v, want %v", when, have, want)
	}
}

func enabledRefuses(t *suites.T) {
	k := onOne()
	t.Must(kprobes.RegisterKprobe(k))
	for i, bad := range []string{"2\n", "on\n", "\n", " ", "01", "-1", "1 0", "enabled", "0x0"} {
		if err := write("enabled", bad); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v, want EINVAL", bad, err)
		}
		suites.Equal(t, "enabled", textOf(t, "enabled"), "1")
		one(1)
		suites.Equal(t, "hits", fmt.Sprint(k.Hits()), fmt.Sprint(i+1))
	}
	kprobes.UnregisterKprobe(k)
}

var blackLine = regexp.MustCompile(`^0x([0-9a-f]{16})-0x([0-9a-f]{16})\t(.+)$`)

// blacklistObeyed tries 20 of the functions that may not be probed.
func blacklistObeyed(t *suites.T) {
	lines := read(t, "blacklist")
	if len(lines) < 50 {
		t.Fatalf("blacklist has %d lines", len(lines))
	}
	slots, changed := kprobes.Slots().Used(), suites.TextChanged()
	for range 20 {
		line := lines[rand.IntN(len(lines))]
		m := blackLine.FindStringSubmatch(line)
		if m == nil {
			t.Fatalf("blacklist has the line %q", line)
		}
		addr, _ := strconv.ParseUint(m[1], 16, 64)
		k := &kprobes.Kprobe{Addr: uintptr(addr)}
		rp := &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: uintptr(addr)}}
		for _, err := range []error{kprobes.RegisterKprobe(k), kprobes.RegisterKretprobe(rp)} {
			if !errors.Is(err, syscall.EINVAL) {
				t.Errorf("%s: %v, want EINVAL", m[3], err)
			}
		}
	}
	if s, c := kprobes.Slots().Used(), suites.TextChanged(); s != slots || c != changed {
		t.Errorf("slots %d->%d, text %d->%d", slots, s, changed, c)
	}
}

// statsExplain reads the columns by their names.
func statsExplain(t *suites.T) {
	k, rp := onOne(), returnOfTwo()
	t.Must(kprobes.RegisterKprobe(k))
	t.Must(kprobes.RegisterKretprobe(rp))
	for range 7 {
		one(1)
		two(1)
	}
	lines := read(t, "stats")
	names := strings.Fields(lines[0])
	mine := about(lines)
	if len(mine) != 2 {
		t.Errorf("stats has %q", mine)
	}
	for _, line := range mine {
		values := strings.Fields(line)
		if len(values) != len(names) {
			t.Fatalf("%d columns, %d names:\n%s\n%s", len(values), len(names), lines[0], line)
		}
		for i, want := range map[string]string{"entered": "7", "handled": "7", "unexplained": "0", "abandoned": "0", "inflight": "0"} {
			for c, name := range names {
				if name == i && values[c] != want {
					t.Errorf("%s is %s, want %s, in %q", name, values[c], want, line)
				}
			}
		}
	}
	kprobes.UnregisterKprobe(k)
	kprobes.UnregisterKretprobe(rp)
}
