//go:build tamago

package control

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"

	"sonde/arch/amd64"
	"sonde/kernel/cpu"
	"sonde/kernel/module"
	"sonde/kernel/printk"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("control/module_that_forgets_its_probes", moduleForgets)
	suites.Add("control/module_whose_init_fails", moduleFails)
	suites.Add("control/module_waits_for_its_handlers", moduleWaits)
	suites.Add("control/list_names_the_module_of_a_function", listModule)
	module.Register(&module.Module{Name: "forgetful", Doc: "leaves its probes behind (test)",
		Params: module.Params{"fail": module.String(&forgetful.fail, "how Init ends: error or panic")},
		Init:   forgetfulInit, Exit: func() {}})
}

// forgetful is a module that never unregisters anything.
var forgetful struct {
	fail         string
	k            *kprobes.Kprobe
	rp           *kprobes.Kretprobe
	j            *kprobes.Jprobe
	late, early  *kprobes.Kprobe
	entered      atomic.Bool // linger was called
	inside, stay atomic.Bool // it runs, it should continue
}

// forgetfulInit registers a probe of each kind, one that it takes back, and one
// from a goroutine of its own.
func forgetfulInit() error {
	f := &forgetful
	f.k, f.rp, f.j, f.late, f.early = kprobeOn(one), returnOf(two), jumperOnThree(), kprobeOn(two), kprobeOn(three)
	f.k.PreHandler = linger
	err := errors.Join(kprobes.RegisterKprobe(f.k), kprobes.RegisterKretprobe(f.rp), kprobes.RegisterJprobe(f.j),
		kprobes.RegisterKprobe(f.early))
	kprobes.UnregisterKprobe(f.early)
	done := make(chan error)
	go func() { done <- kprobes.RegisterKprobe(f.late) }()
	err = errors.Join(err, <-done)
	switch f.fail {
	case "error":
		return errors.Join(err, syscall.ENODEV)
	case "panic":
		panic("on purpose")
	}
	return err
}

// linger is a handler that stays as long as it is told to.
func linger(*kprobes.Kprobe, *amd64.Regs) int {
	forgetful.inside.Store(true)
	forgetful.entered.Store(true)
	for end := cpu.Nanotime() + 1e9; forgetful.stay.Load() && cpu.Nanotime() < end; {
	}
	forgetful.inside.Store(false)
	return 0
}

// theFunction belongs to this file's module.
//
//go:noinline
func theFunction(a int) int { return a*11 + 4 }

// forgotten returns the notices about probes that were forgotten, since seq.
func forgotten(since uint64) (all []string) {
	for rec := range printk.Records() {
		if text := string(rec.Text()); rec.Seq >= since && strings.HasPrefix(text, "module forgetful: forgot a ") {
			all = append(all, strings.TrimPrefix(text, "module forgetful: forgot a "))
		}
	}
	return all
}

// logEnd returns where the log continues.
func logEnd() (seq uint64) {
	for rec := range printk.Records() {
		seq = rec.Seq + 1
	}
	return seq
}

// expectSwept checks that each forgotten probe was named and is off.
func expectSwept(t *suites.T, since uint64) {
	var want []string
	for _, s := range []string{"kprobe at %sone", "return probe at %stwo", "kprobe at %stwo", "jprobe at %sthree"} {
		want = append(want, fmt.Sprintf(s, "sonde/ktest/suites/control.")+"+0x0, which is unregistered")
	}
	suites.Equal(t, "notices", fmt.Sprint(sorted(forgotten(since))), fmt.Sprint(sorted(want)))
	f := &forgetful
	before := [4]uint64{f.k.Hits(), f.late.Hits(), f.rp.Hits(), f.j.KP.Hits()}
	one(1)
	two(1)
	three(1)
	if after := [4]uint64{f.k.Hits(), f.late.Hits(), f.rp.Hits(), f.j.KP.Hits()}; after != before {
		t.Errorf("hits %v, now %v", before, after)
	}
}

// moduleForgets sets a probe of other code among those of the module: it stays.
func moduleForgets(t *suites.T) {
	before, since := state(), logEnd()
	other := kprobeOn(one)
	t.Must(kprobes.RegisterKprobe(other))
	t.Must(module.Insmod("forgetful"))
	expectList(t, "k one+0x0", "k one+0x0", "r two+0x0", "k two+0x0", "j three+0x0")
	one(1)
	two(1)
	three(1)
	f := &forgetful
	suites.Equal(t, "hits", fmt.Sprint(f.k.Hits(), f.late.Hits(), f.rp.Hits(), f.j.KP.Hits()), "1 1 1 1")
	t.Must(module.Rmmod("forgetful"))
	expectList(t, "k one+0x0")
	expectSwept(t, since)
	suites.Equal(t, "hits of the other", fmt.Sprint(other.Hits()), "2")
	kprobes.UnregisterKprobe(other)
	suites.Equal(t, "at the end", state(), before)
	kprobes.UnregisterKprobe(f.k) // late, but harmless
	t.Must(module.Insmod("forgetful"))
	t.Must(module.Rmmod("forgetful"))
	suites.Equal(t, "after another round", state(), before)
}

func moduleFails(t *suites.T) {
	before := state()
	for fail, errno := range map[string]syscall.Errno{"error": syscall.ENODEV, "panic": syscall.EFAULT} {
		since := logEnd()
		if err := module.Insmod("forgetful", "fail="+fail); !errors.Is(err, errno) {
			t.Errorf("%s: %v", fail, err)
		}
		expectList(t)
		expectSwept(t, since)
		suites.Equal(t, fail, state(), before)
	}
}

// moduleWaits unloads while a handler of the module's runs on another CPU. No
// other reason to stop the CPUs must come in between.
func moduleWaits(t *suites.T) {
	if cpu.Num() < 2 {
		t.Skipf("needs two CPUs")
	}
	defer optimization(optimization("0"))
	f := &forgetful
	t.Must(module.Insmod("forgetful"))
	defer module.Rmmod("forgetful") // if it is still there
	f.stay.Store(true)
	f.entered.Store(false)
	t.Go(func() { one(1) })
	t.Until("the handler", f.entered.Load)
	t.Go(func() {
		for end := cpu.Nanotime() + 50e6; cpu.Nanotime() < end; {
		}
		f.stay.Store(false)
	})
	t.Must(module.Rmmod("forgetful"))
	if f.inside.Load() {
		t.Errorf("rmmod returned with a handler running")
	}
	f.stay.Store(false)
	t.Wait()
	if l := f.k.Ledger(); l.Handled != 1 || l.Unexplained() != 0 {
		t.Errorf("account %+v", l)
	}
}

// optimization sets the sysctl of jump optimization and returns what it was.
func optimization(now string) (before string) {
	const file = "/proc/sys/debug/kprobes-optimization"
	b, _ := vfs.ReadFile(file)
	vfs.WriteFile(file, []byte(now))
	return strings.TrimSpace(string(b))
}

// listModule probes a function of a module from outside: the list says so, and
// the probe is gone when the module is.
func listModule(t *suites.T) {
	k, off := kprobeOn(theFunction), kprobeOn(theFunction)
	off.Flags = kprobes.FlagDisabled
	line := func(k *kprobes.Kprobe, end string) string {
		return fmt.Sprintf("%016x  k  sonde/ktest/suites/control.theFunction+0x0%s", k.Addr, end)
	}
	expect := func(when string, want ...string) {
		suites.Equal(t, when, fmt.Sprintf("%q", about(read(t, "list"))), fmt.Sprintf("%q", want))
	}
	t.Must(kprobes.RegisterKprobes([]*kprobes.Kprobe{k, off}))
	expect("not loaded", line(k, ""), line(off, "    [DISABLED]"))
	t.Must(module.Insmod("forgetful"))
	mine := about(read(t, "list"))
	for _, want := range []string{line(k, "  forgetful"), line(off, "  forgetful [DISABLED]")} {
		if !strings.Contains(strings.Join(mine, "\n")+"\n", want+"\n") {
			t.Errorf("loaded: list lacks %q: %q", want, mine)
		}
	}
	theFunction(1)
	t.Must(module.Rmmod("forgetful"))
	expect("unloaded", line(k, "    [GONE][DISABLED]"), line(off, "    [GONE][DISABLED]"))
	theFunction(1)
	suites.Equal(t, "hits", fmt.Sprint(k.Hits()), "1")
	if err := kprobes.EnableKprobe(k); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("enabled: %v", err)
	}
	kprobes.UnregisterKprobes([]*kprobes.Kprobe{k, off})
	suites.Equal(t, "text", fmt.Sprint(suites.TextChanged()), "0")
}
