package attach

import (
	"errors"
	"slices"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/grace"
	"sonde/kernel/refusal"
	"sonde/probe/ledger"
)

// fake is a kind of probe that refuses places of the name "bad".
type fake struct {
	can     Ability
	open    []string // places that have a probe
	refuses error    // of Enable
	off     bool
	code    bool // its changes write code
	// of its changes: how often all CPUs execute what was written, how often each CPU has been asked, and how often the
	// rest was done
	written, each, then int
}

type fakePart struct {
	f      *fake
	places []*Place
}

func (f *fake) Can(Kind) Ability { return f.can }

func (f *fake) Attach(l *Link, sites []Site) (Attachment, grace.Change, error) {
	a := &fakePart{f: f}
	for i := range sites {
		if sites[i].Symbol == "bad" {
			return nil, grace.Change{}, refusal.New(syscall.EILSEQ, "place %q: bad", sites[i])
		}
		a.places = append(a.places, &Place{Link: l, Site: &sites[i], Where: sites[i].String()})
	}
	for _, p := range a.places {
		f.open = append(f.open, p.Where)
	}
	return a, f.change(), nil
}

func (a *fakePart) Detach() grace.Change {
	for _, p := range a.places {
		a.f.open = slices.DeleteFunc(a.f.open, func(s string) bool { return s == p.Where })
	}
	return a.f.change()
}

// change notes on how many CPUs, and how often, it is completed.
func (f *fake) change() (c grace.Change) {
	if f.code {
		c.Written = []func(){func() { f.written++ }}
	}
	c.Each, c.Then = []func(){func() { f.each++ }}, []func(){func() { f.then++ }}
	return c
}

func (a *fakePart) Enable(on bool) error {
	if a.f.refuses == nil {
		a.f.off = !on
	}
	return a.f.refuses
}

func (a *fakePart) Skipped() int    { return 1 }
func (a *fakePart) Summary() string { return "" }

func (a *fakePart) Places() (all []Placed) {
	for _, p := range a.places {
		all = append(all, Placed{Place: p, Disabled: a.f.off, Ledger: ledger.Ledger{Entered: 2, Handled: 2}})
	}
	return all
}

// provide lets two fakes be the kernel's and the programs' kind until the test ends.
func provide(t *testing.T) (kernel, program *fake) {
	was := providers
	t.Cleanup(func() { providers = was })
	kernel, program = &fake{can: Returns | Entries | Data}, &fake{can: Returns | Blocks | Processes}
	Provide(Kernel, kernel)
	Provide(Program, program)
	return kernel, program
}

func TestAttachAndClose(t *testing.T) {
	kernel, program := provide(t)
	l, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:main", "ret:vfs.Write", "vfs.Open")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"vfs.Read", "ret:vfs.Write", "vfs.Open"}; !slices.Equal(kernel.open, want) || !slices.Equal(program.open, []string{"/bin/sh:main"}) {
		t.Error(kernel.open, program.open)
	}
	if n := len(l.Places()); n != 4 || l.Skipped() != 2 || l.Ledger() != (ledger.Ledger{Entered: 8, Handled: 8}) {
		t.Error(n, l.Skipped(), l.Ledger())
	}
	if !slices.Contains(Links(), l) {
		t.Error("it is not among the links")
	}
	l.Close()
	l.Close()
	if len(kernel.open)+len(program.open) != 0 || slices.Contains(Links(), l) {
		t.Error("closed, but left", kernel.open, program.open)
	}
	if err := l.Enable(true); !errors.Is(err, syscall.EINVAL) {
		t.Error("a closed link was enabled:", err)
	}
}

// countCalls counts how often all CPUs are called until the test ends.
func countCalls(t *testing.T) (n *int) {
	was := grace.CallAll
	t.Cleanup(func() { grace.CallAll = was })
	n = new(int)
	grace.CallAll = func(f func()) { *n++; f() }
	return n
}

// TestOneWait: links at places of several kinds are attached, refused and closed with one wait for all CPUs.
func TestOneWait(t *testing.T) {
	kernel, program := provide(t)
	calls := countCalls(t)
	expect := func(what string, waits, each int) {
		t.Helper()
		if *calls != waits || kernel.each != each || kernel.then != each || program.each != program.then {
			t.Errorf("%s: %d waits, %d of the kernel's changes are complete, %+v", what, *calls, kernel.then, program)
		}
	}
	l, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:main", "ret:vfs.Write", "ret:/bin/sh:main")
	if err != nil {
		t.Fatal(err)
	}
	expect("attached", 1, 1)
	l.Close()
	expect("closed", 2, 2)
	l.Close()
	expect("closed again", 2, 2)
	if _, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:bad"); err == nil {
		t.Error("a bad place is attached to")
	}
	expect("refused", 3, 4)
	for _, s := range []string{"vfs.Read", "/bin/sh:main"} {
		l, err := AttachTo(nil, nil, s)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
	expect("two links", 5, 5)
	Parts{Links()[len(Links())-2], Links()[len(Links())-1]}.Detach().Complete()
	expect("closed together", 6, 6)
}

// TestOneWaitForCode: what several kinds have written is executed by all CPUs after one call, before they are waited for.
func TestOneWaitForCode(t *testing.T) {
	kernel, program := provide(t)
	kernel.code, program.code = true, true
	was, calls := grace.CallAll, 0
	t.Cleanup(func() { grace.CallAll = was })
	grace.CallAll = func(f func()) {
		if calls++; calls%2 == 0 && (kernel.written != calls/2 || program.written != calls/2) {
			t.Errorf("call %d: %d and %d times, all CPUs execute what was written", calls, kernel.written, program.written)
		}
		f()
	}
	l, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:main")
	if err != nil {
		t.Fatal(err)
	}
	if l.Close(); calls != 4 || kernel.then != 2 || program.then != 2 {
		t.Errorf("%d calls, %+v, %+v", calls, kernel, program)
	}
}

// TestAllOrNothing: if one kind refuses, those before it have nothing left.
func TestAllOrNothing(t *testing.T) {
	kernel, program := provide(t)
	before := len(Links())
	_, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:bad")
	if !errors.Is(err, syscall.EILSEQ) || len(kernel.open)+len(program.open) != 0 || len(Links()) != before {
		t.Error(err, kernel.open, program.open)
	}
}

func TestEnableAllOrNothing(t *testing.T) {
	kernel, program := provide(t)
	l, err := AttachTo(nil, nil, "vfs.Read", "/bin/sh:main")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	program.refuses = syscall.EIO
	if err := l.Enable(false); err != syscall.EIO || kernel.off {
		t.Error(err, "the kernel's are off:", kernel.off)
	}
	program.refuses = nil
	if err := l.Enable(false); err != nil || !kernel.off || !program.off {
		t.Error(err, kernel.off, program.off)
	}
	// Those that were as wanted stay so: the kernel's used to be disabled by a second Enable that was refused.
	for _, on := range []bool{false, true} {
		if err := l.Enable(on); err != nil {
			t.Fatal(err)
		}
		program.refuses = syscall.EIO
		if err := l.Enable(on); err != syscall.EIO || kernel.off == on {
			t.Errorf("enabled again, %v: %v, the kernel's are off: %v", on, err, kernel.off)
		}
		program.refuses = nil
	}
}

func TestRefusedOptions(t *testing.T) {
	kernel, program := provide(t)
	entry := func(*Hit) bool { return true }
	for _, c := range []struct {
		beside, place string // the first takes the options, and has no probe either
		o             Options
		errno         syscall.Errno
		why           string
	}{
		{"/bin/sh:main", "vfs.Read", Options{Block: true}, syscall.EINVAL, "a place in the kernel has no handlers that block; kinds with it: place in a program"},
		{"ret:vfs.Read", "/bin/sh:main", Options{Data: 1}, syscall.EINVAL, "a place in a program has no data per call; kinds with it: place in the kernel"},
		{"ret:vfs.Write", "vfs.Read", Options{Data: 1}, syscall.EINVAL, "give ret:vfs.Read"},
		{"ret:vfs.Write", "vfs.Read", Options{Entry: entry}, syscall.EINVAL, "give ret:vfs.Read"},
		{"ret:vfs.Write", "vfs.Read", Options{Active: 8}, syscall.EINVAL, "give ret:vfs.Read"},
		{"vfs.Write", "vfs.*", Options{}, syscall.EINVAL, "has no patterns; kinds with it: none"},
		{"ret:vfs.Read", "ret:vfs.Read", Options{Data: -1}, syscall.ERANGE, "-1 words of data for each call"},
		{"ret:vfs.Read", "ret:vfs.Read", Options{Data: MostWords + 1}, syscall.ERANGE, "8193 words of data for each call; give 0 to 8192"},
		{"ret:vfs.Read", "ret:vfs.Read", Options{Data: 1 << 61}, syscall.ERANGE, "give 0 to 8192"}, // as bytes, 0
		{"ret:vfs.Read", "ret:vfs.Read", Options{Active: -1}, syscall.ERANGE, "-1 calls at the same time"},
		{"vfs.Write", "tick:99hz", Options{}, syscall.ENOSYS, "this kernel cannot probe a tick"},
		{"vfs.Write", "q@x", Options{}, syscall.EINVAL, "not an access"},
	} {
		before := len(Links())
		_, err := AttachTo(nil, &c.o, c.beside, c.place)
		if !errors.Is(err, c.errno) || !strings.Contains(err.Error(), c.why) || !strings.Contains(err.Error(), c.place) {
			t.Errorf("%s: %v; want %q", c.place, err, c.why)
		}
		if len(kernel.open)+len(program.open) > 0 || len(Links()) != before {
			t.Fatalf("%s: refused, and %v and %v have probes", c.place, kernel.open, program.open)
		}
	}
	for _, s := range []Site{{Kind: Tick}, {Kind: Tick, Hz: -1}, {Kind: Tick, Hz: maxHz + 1}, {Kind: Every}, {Kind: Every, Period: -1}, {Kind: Every, Period: maxPeriod + 1}} {
		Provide(s.Kind, kernel)
		if _, err := Attach([]Site{s}, nil, nil); !errors.Is(err, syscall.EINVAL) || len(kernel.open) > 0 {
			t.Errorf("%v: %v", s, err)
		}
		Provide(s.Kind, nil)
	}
	if _, err := Attach(nil, nil, nil); !errors.Is(err, syscall.EINVAL) {
		t.Error("nowhere:", err)
	}
}

func TestHowManyFit(t *testing.T) {
	l := &Link{Options: Options{Most: 3}}
	for n, errno := range map[int]error{0: syscall.ENOENT, 1: nil, 3: nil, 4: syscall.E2BIG} {
		if err := l.Fits(n, "function"); !errors.Is(err, errno) {
			t.Errorf("%d of 3: %v", n, err)
		}
	}
	if err := new(Link).Fits(100_000, "function"); err != nil {
		t.Error(err)
	}
}

// TestModuleForgetsALink: its probes are removed; those of others stay.
func TestModuleForgetsALink(t *testing.T) {
	kernel, _ := provide(t)
	forgotten, err := AttachTo(nil, &Options{Owner: "mod"}, "vfs.Read")
	if err != nil {
		t.Fatal(err)
	}
	other, err := AttachTo(nil, &Options{Owner: "other"}, "vfs.Write")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	defer func(was []*Face) { faces = was }(faces)
	Show(&Face{Forget: func(owner string) []string { return []string{"a probe of " + owner} }})
	left := forgetModule("mod")
	if !slices.Equal(kernel.open, []string{"vfs.Write"}) || slices.Contains(Links(), forgotten) || len(left) != 2 || left[1] != "a probe of mod" {
		t.Error(kernel.open, left)
	}
}

// spoken is an error that counts how often its words are asked for.
type spoken int

func (n *spoken) Error() string { *n++; return "nothing is there" }

// TestMisplacedIsCheap: the words of an error about a place are made when somebody asks for them.
func TestMisplacedIsCheap(t *testing.T) {
	cause := new(spoken)
	err := Misplaced(Site{Symbol: "vfs.Raed"}, cause)
	if !errors.Is(err, cause) || *cause > 0 {
		t.Errorf("the words were made %d times before they were asked for", *cause)
	}
	if got := err.Error(); got != `place "vfs.Raed": nothing is there` {
		t.Error(got)
	}
}
