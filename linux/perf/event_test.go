package perf

import (
	"encoding/binary"
	"errors"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/kernel/grace"
	"sonde/probe/attach"
	"sonde/probe/ledger"
)

// fake is places that a test hits.
type fake struct {
	link   *attach.Link
	site   attach.Site
	on     bool
	closed bool
	ledger ledger.Ledger
}

// taken is where nothing more can be watched.
const taken = 0x7000

// fakes are all, the last one last.
var fakes []*fake

func (*fake) Can(attach.Kind) attach.Ability { return ^attach.Ability(0) }
func (*fake) Attach(l *attach.Link, sites []attach.Site) (_ attach.Attachment, c grace.Change, err error) {
	switch {
	case sites[0].Symbol == "missing":
		return nil, c, syscall.ENOENT
	case sites[0].Addr == taken:
		return nil, c, syscall.EBUSY
	}
	f := &fake{link: l, site: sites[0], on: !l.Options.Disabled}
	fakes = append(fakes, f)
	return f, c, nil
}
func (f *fake) Detach() (c grace.Change) {
	f.closed = true
	return c
}
func (f *fake) Enable(on bool) error { f.on = on; return nil }
func (f *fake) Places() []attach.Placed {
	return []attach.Placed{{Place: &attach.Place{Link: f.link, Site: &f.site}, Ledger: f.ledger}}
}

// hit hits the last place on a CPU, for a thread.
func hit(pid, tid, cpu uint32) {
	f := fakes[len(fakes)-1]
	if !f.on || f.closed {
		return
	}
	f.ledger.Entered++
	hitBy.Store(&whose{pid, tid, cpu, 1234})
	f.link.Handler(&attach.Hit{Regs: new(amd64.Regs), Place: &attach.Place{Site: &f.site, Addr: 0x77}, IP: 0x99})
	f.ledger.Handled++
}

func TestMain(m *testing.M) {
	for k := attach.Kernel; k <= attach.Every; k++ {
		attach.Provide(k, new(fake))
	}
	Faults = "faults"
	m.Run()
}

// open opens an event on CPU 1.
func open(t *testing.T, a Attr) *Event {
	t.Helper()
	f, err := Open(&Request{Attr: a, CPU: 1, Name: "function"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	e, err := Of(f)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// value reads the first number of an event.
func value(t *testing.T, e *Event) uint64 {
	t.Helper()
	b := make([]byte, 128)
	if n, err := e.ReadAt(b, 0); err != nil || n < 8 {
		t.Fatal(n, err)
	}
	return binary.LittleEndian.Uint64(b)
}

func TestEventCountsWhileEnabled(t *testing.T) {
	e := open(t, Attr{Type: software, Config: pageFaults, Flags: flagDisabled})
	hit(1, 1, 1)
	e.Enable(true)
	hit(1, 1, 1)
	hit(1, 1, 0) // on another CPU
	hit(1, 1, 1)
	if n := value(t, e); n != 2 {
		t.Errorf("%d hits, want 2", n)
	}
	e.Enable(false)
	hit(1, 1, 1)
	if n := value(t, e); n != 2 {
		t.Errorf("%d hits afterwards, want 2", n)
	}
	e.Reset()
	e.Enable(true)
	hit(1, 1, 1)
	if n := value(t, e); n != 1 {
		t.Errorf("%d hits since the reset, want 1", n)
	}
}

func TestClosedEventIsDetached(t *testing.T) {
	e := open(t, Attr{Type: kprobe})
	f := fakes[len(fakes)-1]
	if !f.on || f.closed || f.site.Symbol != "function" {
		t.Errorf("open: %+v", f)
	}
	e.Close()
	if !f.closed {
		t.Error("closed: the place still has its probe")
	}
}

func TestWhatIsAttachedTo(t *testing.T) {
	for _, tt := range []struct {
		a    Attr
		want attach.Site
	}{
		{Attr{Type: kprobe, Config2: 4}, attach.Site{Kind: attach.Kernel, Symbol: "function", Offset: 4}},
		{Attr{Type: kprobe, Config: 1}, attach.Site{Kind: attach.Kernel, Symbol: "function", Return: true}},
		{Attr{Type: uprobe, Config: 1, Config2: 0x40}, attach.Site{Kind: attach.Program, File: "function", Offset: 0x40, Return: true}},
		{Attr{Type: breakpoint, BreakType: 2, Config1: 8, Config2: 4}, attach.Site{Kind: attach.Watch, Addr: 8, Length: 4}},
		{Attr{Type: breakpoint, BreakType: 3, Config1: 8, Config2: 4}, attach.Site{Kind: attach.Watch, Addr: 8, Length: 4, Access: attach.ReadWrite}},
		{Attr{Type: breakpoint, BreakType: 4, Config1: 8, Config2: 8}, attach.Site{Kind: attach.Watch, Addr: 8, Length: 1, Access: attach.Execute}},
		{Attr{Type: software, Config: cpuClock, Period: 99, Flags: flagFreq}, attach.Site{Kind: attach.Tick, Hz: 99}},
		{Attr{Type: software, Config: cpuClock, Period: 1e7}, attach.Site{Kind: attach.Tick, Hz: 100}},
		{Attr{Type: software, Config: cpuClock, Period: 1}, attach.Site{Kind: attach.Tick, Hz: 100_000}},
		{Attr{Type: software, Config: cpuClock, Period: 5e9}, attach.Site{Kind: attach.Tick, Hz: 1}},
	} {
		if e := open(t, tt.a); e.clock { // which ticks when somebody wants to know
			s, _, err := e.Map(0, 2*pageSize, true, true)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Drop()
		}
		if got := fakes[len(fakes)-1].site; got != tt.want {
			t.Errorf("%+v: %+v, want %+v", tt.a, got, tt.want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	leader := open(t, Attr{Type: software, Config: dummy})
	for _, tt := range []struct {
		what string
		r    Request
		want syscall.Errno
	}{
		{"hardware", Request{Attr: Attr{Type: hardware}}, syscall.ENOENT},
		{"a raw event", Request{Attr: Attr{Type: raw}}, syscall.ENOENT},
		{"no such type", Request{Attr: Attr{Type: 99}}, syscall.ENOENT},
		{"no such software event", Request{Attr: Attr{Type: software, Config: 99}}, syscall.ENOENT},
		{"no tracepoints", Request{Attr: Attr{Type: tracepoint}}, syscall.ENOENT},
		{"no such CPU", Request{Attr: Attr{Type: software, Config: dummy}, CPU: 4}, syscall.EINVAL},
		{"CPU -2", Request{Attr: Attr{Type: software, Config: dummy}, CPU: -2}, syscall.EINVAL},
		{"neither CPU nor thread", Request{Attr: Attr{Type: software, Config: dummy}, CPU: -1}, syscall.EINVAL},
		{"a group on another CPU", Request{Attr: Attr{Type: software, Config: dummy}, CPU: 0, Group: leader}, syscall.EINVAL},
		{"too often", Request{Attr: Attr{Type: software, Period: 1e6, Flags: flagFreq}}, syscall.EINVAL},
		{"a negative period", Request{Attr: Attr{Type: software, Period: 1 << 63}}, syscall.EINVAL},
		{"a read breakpoint", Request{Attr: Attr{Type: breakpoint, BreakType: 1, Config2: 4}}, syscall.EINVAL},
		{"a breakpoint on 4 bytes of code", Request{Attr: Attr{Type: breakpoint, BreakType: 4, Config2: 4}}, syscall.EINVAL},
		{"a breakpoint on no bytes", Request{Attr: Attr{Type: breakpoint, BreakType: 2, Config1: 8}}, syscall.EINVAL},
		{"the kernel's memory, without the kernel", Request{Attr: Attr{Type: breakpoint, BreakType: 2, Config1: 1 << 63, Config2: 8, Flags: flagExcludeKernel}}, syscall.EINVAL},
		{"the first byte that is no program's, without the kernel", Request{Attr: Attr{Type: breakpoint, BreakType: 2, Config1: 1<<47 - 4096, Config2: 8, Flags: flagExcludeKernel}}, syscall.EINVAL},
		{"no debug register", Request{Attr: Attr{Type: breakpoint, BreakType: 2, Config1: taken, Config2: 8}}, syscall.ENOSPC},
		{"a function that is not there", Request{Attr: Attr{Type: kprobe}, Name: "missing"}, syscall.ENOENT},
		{"a pattern", Request{Attr: Attr{Type: kprobe}, Name: "vfs_*"}, syscall.ENOENT},
		{"a uprobe without a file", Request{Attr: Attr{Type: uprobe}}, syscall.EINVAL},
		{"user registers", Request{Attr: Attr{Type: software, Config: dummy, Sample: 1 << 12}}, syscall.EOPNOTSUPP},
		{"a breakpoint for children", Request{Attr: Attr{Type: breakpoint, Flags: flagInherit}}, syscall.EOPNOTSUPP},
	} {
		n := len(attach.Links())
		if _, err := Open(&tt.r); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, err, tt.want)
		}
		if len(attach.Links()) != n {
			t.Errorf("%s: something is attached", tt.what)
		}
	}
}

func TestReadFormats(t *testing.T) {
	leader := open(t, Attr{Type: software, Config: pageFaults, Read: readEnabled | readRunning | readID | readGroup | readLost})
	hit(1, 1, 1)
	f, err := Open(&Request{Attr: Attr{Type: software, Config: pageFaults, Read: readID}, CPU: 1, Group: leader})
	if err != nil {
		t.Fatal(err)
	}
	hit(1, 1, 1)
	hit(1, 1, 1)
	member, _ := Of(f)
	b := make([]byte, 200)
	n, err := leader.ReadAt(b, 0)
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	if err != nil || n != 9*8 || word(0) != 2 || word(1) == 0 || word(1) != word(2) ||
		[6]uint64{word(3), word(4), word(5), word(6), word(7), word(8)} != [6]uint64{1, leader.ID(), 0, 2, member.ID(), 0} {
		t.Errorf("%d bytes, %v: % x", n, err, b[:n])
	}
	if _, err := leader.ReadAt(b[:8], 0); err != syscall.ENOSPC {
		t.Errorf("8 bytes: %v", err)
	}
	f.Close()
	if n, _ := leader.ReadAt(b, 0); n != 6*8 || word(0) != 1 {
		t.Errorf("a member was closed: %d bytes", n)
	}
}

// TestMembersSpeakForTheirGroup: reading one, or asking all by one, means the group, as long as its leader is there.
func TestMembersSpeakForTheirGroup(t *testing.T) {
	f, err := Open(&Request{Attr: Attr{Type: software, Config: pageFaults}, CPU: 1})
	if err != nil {
		t.Fatal(err)
	}
	leader, _ := Of(f)
	g, err := Open(&Request{Attr: Attr{Type: software, Config: pageFaults, Read: readID | readGroup}, CPU: 1, Group: leader})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	member, _ := Of(g)
	b := make([]byte, 200)
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	if n, err := member.ReadAt(b, 0); err != nil || n != 5*8 || word(0) != 2 || word(2) != leader.ID() || word(4) != member.ID() {
		t.Errorf("%d bytes, %v: % x", n, err, b[:n])
	}
	var all []*Event
	note := func(e *Event) error { all = append(all, e); return nil }
	if member.All(note); !slices.Equal(all, []*Event{leader, member}) {
		t.Errorf("%d events", len(all))
	}
	f.Close()
	if n, err := member.ReadAt(b, 0); err != nil || n != 3*8 || word(0) != 1 || word(2) != member.ID() {
		t.Errorf("without a leader: %d bytes, %v: % x", n, err, b[:n])
	}
	if all = nil; member.All(note) != nil || !slices.Equal(all, []*Event{member}) {
		t.Errorf("without a leader: %d events", len(all))
	}
}

// TestSamplesHaveWhatIsAskedFor maps an event, and reads its samples as a program does.
func TestSamplesHaveWhatIsAskedFor(t *testing.T) {
	e := open(t, Attr{Type: software, Config: pageFaults, Period: 2,
		Sample: sampleIP | sampleTID | sampleTime | sampleAddr | sampleID | sampleCPU | samplePeriod | sampleStreamID | sampleIdentifier})
	s, later, err := e.Map(0, 3*pageSize, true, true)
	if err != nil || !later {
		t.Fatal(err)
	}
	defer s.Drop()
	for range 5 {
		hit(7, 8, 1)
	}
	mem := e.memory.pages.Mem
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(mem[at:]) }
	const size = 8 + 9*8
	if head, data, n := word(1024), word(1040), word(1048); head != 2*size || data != pageSize || n != 2*pageSize {
		t.Errorf("head %d, data at %d, %d bytes", head, data, n)
	}
	for i, want := range []uint64{9 | size<<48, e.ID(), 0x99, 7 | 8<<32, 1234, 0x77, e.ID(), e.ID(), 1, 2} {
		if got := word(pageSize + 8*i); got != want {
			t.Errorf("word %d is %#x, want %#x", i, got, want)
		}
	}
	if e.Poll() == 0 {
		t.Error("there is nothing to read")
	}
	*(*uint64)(unsafe.Pointer(&mem[1032])) = 2 * size
	if e.Poll() != 0 {
		t.Error("there is something to read when all was read")
	}
}

func TestMappingsThatAreNone(t *testing.T) {
	e := open(t, Attr{Type: software, Config: bpfOutput})
	for _, tt := range []struct {
		off, n uint64
		shared bool
	}{{0, 3 * pageSize, false}, {pageSize, 3 * pageSize, true}, {0, 4 * pageSize, true}, {0, 0, true}, {0, pageSize, true}, {0, 1<<40 + pageSize, true}} {
		if _, _, err := e.Map(tt.off, tt.n, tt.shared, true); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	s, _, err := e.Map(0, 2*pageSize, true, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Map(0, 3*pageSize, true, true); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("another size: %v", err)
	}
	s.Drop()
	if e.memory.pages != nil || e.PerfRing().Poll() != 0 {
		t.Error("unmapped: the memory is there")
	}
	if s, _, err = e.Map(0, 3*pageSize, true, true); err != nil {
		t.Fatalf("another size, afterwards: %v", err)
	}
	s.Drop()
}

// TestPagesStayForWhoMapsThem: a thread has asked for pages and is about to map them when others unmap them and close
// the event.
func TestPagesStayForWhoMapsThem(t *testing.T) {
	e := open(t, Attr{Type: software, Config: bpfOutput})
	first, _, err := e.Map(0, 2*pageSize, true, true)
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := e.Map(0, 2*pageSize, true, true)
	if err != nil || again != first {
		t.Fatalf("the same again: %v", err)
	}
	first.Drop()
	if e.memory.pages != again {
		t.Fatal("the pages are freed when the first mapping ends")
	}
	e.Close()
	if e.memory.pages != again {
		t.Fatal("the pages are freed when the event is closed")
	}
	again.Drop()
	if e.memory.pages != nil {
		t.Error("the pages are left when the last mapping has ended")
	}
}

// TestClockTicksWhileItIsHeard: a clock takes no interrupts unless it is enabled and its samples go somewhere. Its
// count continues.
func TestClockTicksWhileItIsHeard(t *testing.T) {
	before := len(fakes)
	e := open(t, Attr{Type: software, Config: cpuClock, Period: 1000, Flags: flagDisabled})
	ticks := func(want bool, when string) {
		t.Helper()
		if got := len(fakes) > before && !fakes[len(fakes)-1].closed; got != want {
			t.Errorf("%s: it ticks: %v, want %v", when, got, want)
		}
	}
	ticks(false, "at the beginning")
	e.Enable(true)
	ticks(false, "enabled")
	pages, _, err := e.Map(0, 2*pageSize, true, true)
	if err != nil {
		t.Fatal(err)
	}
	ticks(true, "mapped")
	e.Enable(false)
	ticks(false, "disabled")
	e.Enable(true)
	ticks(true, "enabled again")
	pages.Drop()
	ticks(false, "not mapped any more")
	if n := value(t, e); n == 0 {
		t.Error("it counts no time")
	}
}
