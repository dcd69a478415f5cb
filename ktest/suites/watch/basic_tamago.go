//go:build tamago

package watch

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/ktest/suites"
	"sonde/ktest/suites/targets"
	"sonde/kwatch"
)

func init() {
	suites.Add("watch/write_tells_old_and_new", write)
	suites.Add("watch/each_length_sees_its_bytes_only", lengths)
	suites.Add("watch/read_and_write", readWrite)
	suites.Add("watch/registering_is_no_access", registering)
	suites.Add("watch/reads_only", readsOnly)
	suites.Add("watch/execute_resumes", execute)
	suites.Add("watch/four_and_no_more", four)
	suites.Add("watch/refused", refused)
	suites.Add("watch/symbol", symbol)
	suites.Add("watch/heap_object_stays", heapObject)
	suites.Add("watch/xmm_survive_any_handler", xmmSurvive)
}

func write(t *suites.T) {
	const n = 100
	var s seen
	reg := on(t, wordAt(), 8, kwatch.Write, s.hit)
	before := word
	for range n {
		incWord()
		readWord()
	}
	l := off(t, reg)
	incWord()
	if s.n.Load() != n || l.Ledger.Entered != n || l.Ledger.Handled != n {
		t.Fatalf("%d hits of %d; %+v", s.n.Load(), n, l.Ledger)
	}
	for i, h := range s.hits[:n] {
		if h.Old != before+uint64(i) || h.New != h.Old+1 || h.Addr != wordAt() || h.IP <= incAt || h.IP > incAt+8 || h.Goid == 0 {
			t.Fatalf("hit %d: %+v, from %d on", i, h, before)
		}
	}
}

// bytes is aligned to 16, and what lies around the watched bytes belongs to it, too.
var bytes [4]uint64

//go:noinline
func put8(p *uint8, v uint8) { *p = v }

func lengths(t *suites.T) {
	base := uintptr(unsafe.Pointer(&bytes[1]))
	for _, n := range []int{1, 2, 4, 8} {
		for off8 := 0; off8 < 8; off8 += n {
			var s seen
			reg := on(t, base+uintptr(off8), n, kwatch.Write, s.hit)
			for i := -4; i < 12; i++ {
				put8((*uint8)(unsafe.Add(unsafe.Pointer(&bytes[1]), i)), uint8(i))
			}
			off(t, reg)
			if got := s.n.Load(); got != int64(n) {
				t.Errorf("%d bytes at +%d: %d hits", n, off8, got)
			}
			if want := uint64(off8+n-1) << (8 * (n - 1)); s.hits[max(0, n-1)].New>>(8*(n-1)) != want>>(8*(n-1)) {
				t.Errorf("%d bytes at +%d: %#x", n, off8, s.hits[n-1].New)
			}
		}
	}
}

// registering reads what is to be watched: another watchpoint there used to be called for it.
func registering(t *suites.T) {
	var s, others seen
	reg := on(t, wordAt(), 8, kwatch.ReadWrite, s.hit)
	for _, typ := range []kwatch.Type{kwatch.Write, kwatch.Read, kwatch.ReadWrite} {
		other := on(t, wordAt(), 8, typ, others.hit)
		t.Must(kwatch.EnableKwatch(other, false))
		t.Must(kwatch.EnableKwatch(other, true))
		off(t, other)
	}
	readWord()
	if l := off(t, reg); s.n.Load() != 1 || l.Ledger.Entered != 1 || others.n.Load() != 0 {
		t.Errorf("%d hits, and %d of the others; %+v", s.n.Load(), others.n.Load(), l.Ledger)
	}
}

func readWrite(t *suites.T) {
	const n = 50
	var s seen
	reg := on(t, wordAt(), 8, kwatch.ReadWrite, s.hit)
	for range n {
		incWord()
		readWord()
	}
	l := off(t, reg)
	if s.n.Load() != 2*n || l.Ledger.Missed() != 0 {
		t.Errorf("%d hits of %d; %+v", s.n.Load(), 2*n, l.Ledger)
	}
	changed := 0
	for _, h := range s.hits[:2*n] {
		if h.Old != h.New {
			changed++
		}
	}
	if changed != n {
		t.Errorf("%d changes of %d", changed, n)
	}
}

func readsOnly(t *suites.T) {
	var s seen
	reg := on(t, wordAt(), 8, kwatch.Read, s.hit)
	incWord()
	readWord()
	incWord()
	l := off(t, reg)
	if s.n.Load() != 1 || l.Ledger.Declined != 2 || s.hits[0].Old != s.hits[0].New {
		t.Errorf("%d hits; %+v", s.n.Load(), l.Ledger)
	}
}

// execute: a watched instruction that is not resumed with RF is hit for ever.
func execute(t *suites.T) {
	const n = 100
	var s seen
	s.want = func(h *kwatch.Hit, r *amd64.Regs) bool {
		return h.IP == incAt && uintptr(r.IP) == incAt && h.Old == 0 && h.New == 0
	}
	reg := on(t, incAt, 1, kwatch.Execute, func(h *kwatch.Hit, r *amd64.Regs) {
		if s.hit(h, r); s.n.Load() > 2*n { // it does not end
			r.IP = uint64(arriveAt)
		}
	})
	before := word
	for range n {
		incWord()
	}
	off(t, reg)
	if s.n.Load() != n || s.bad.Load() != 0 || word != before+n {
		t.Errorf("%d hits, %d bad, %d times executed; want %d", s.n.Load(), s.bad.Load(), word-before, n)
	}
}

func four(t *suites.T) {
	var s seen
	var regs []int
	for i := range 4 {
		regs = append(regs, on(t, uintptr(unsafe.Pointer(&bytes[i])), 8, kwatch.Write, s.hit))
	}
	_, err := kwatch.RegisterKwatch(wordAt(), 8, kwatch.Write, s.hit)
	if !errors.Is(err, syscall.EBUSY) || strings.Count(err.Error(), "watch.bytes") != 4 || !strings.Contains(err.Error(), "the kernel") {
		t.Errorf("a fifth: %v", err)
	}
	t.Logf("%v", err)
	for i := range bytes {
		put8((*uint8)(unsafe.Pointer(&bytes[i])), 1)
	}
	for i, reg := range regs {
		if s.hits[i].DebugReg != reg || s.hits[i].Addr != uintptr(unsafe.Pointer(&bytes[i])) {
			t.Errorf("%d: %+v", i, s.hits[i])
		}
		off(t, reg)
	}
	if s.n.Load() != 4 {
		t.Errorf("%d hits", s.n.Load())
	}
}

var constant = "of the read-only data"

// object is in the heap, since a variable of the package refers to it.
var object *uint64

func refused(t *suites.T) {
	s, local := new(seen), uint64(0)
	object = new(uint64)
	own := t.Function("sonde/kwatch.states")
	entry := t.Function("sonde/arch/amd64/trap.entryDB")
	for _, c := range []struct {
		name   string
		addr   uintptr
		length int
		typ    kwatch.Type
		h      kwatch.Handler
		errno  syscall.Errno
		why    string
	}{
		{"length 3", wordAt(), 3, kwatch.Write, s.hit, syscall.EINVAL, "the length is 3"},
		{"length 0", wordAt(), 0, kwatch.Write, s.hit, syscall.EINVAL, "the length is 0"},
		{"length -8", wordAt(), -8, kwatch.Write, s.hit, syscall.EINVAL, "the length is -8"},
		{"misaligned", wordAt() + 4, 8, kwatch.Write, s.hit, syscall.EINVAL, "must be a multiple of the length"},
		{"no handler", wordAt(), 8, kwatch.Write, nil, syscall.EINVAL, "no handler"},
		{"no type", wordAt(), 8, 17, s.hit, syscall.EINVAL, "type 17 is unknown"},
		{"two bytes of code", incAt &^ 1, 2, kwatch.Execute, s.hit, syscall.EINVAL, "needs length 1, not 2"},
		{"data executed", wordAt(), 1, kwatch.Execute, s.hit, syscall.EINVAL, "not kernel code"},
		{"code written", incAt &^ 7, 8, kwatch.Write, s.hit, syscall.EINVAL, "not kernel data"},
		{"not mapped", 0x7fff_0000_0000, 8, kwatch.Write, s.hit, syscall.EFAULT, "nothing is mapped"},
		{"not canonical", 1 << 63, 8, kwatch.Write, s.hit, syscall.EFAULT, "nothing is mapped"},
		{"nil", 0, 8, kwatch.Write, s.hit, syscall.EFAULT, "nothing is mapped"},
		{"read-only", uintptr(unsafe.Pointer(unsafe.StringData(constant))) &^ 7, 8, kwatch.Write, s.hit, syscall.EINVAL, "read-only"},
		{"a stack", uintptr(unsafe.Pointer(&local)), 8, kwatch.Write, s.hit, syscall.EINVAL, "on a stack"},
		{"the heap", uintptr(unsafe.Pointer(object)), 8, kwatch.Write, s.hit, syscall.EINVAL, "in the heap"},
		{"its own data", uintptr(own.Addr), 8, kwatch.Write, s.hit, syscall.EINVAL, "hits use this data themselves"},
		{"the way of a hit", uintptr(entry.Addr), 1, kwatch.Execute, s.hit, syscall.EINVAL, "hits execute this code"},
	} {
		n, err := kwatch.RegisterKwatch(c.addr, c.length, c.typ, c.h)
		if !errors.Is(err, c.errno) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %d, %v", c.name, n, err)
		}
	}
	for _, n := range []int{-1, 0, 3, 4, 1 << 40} {
		if err := kwatch.UnregisterKwatch(n); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("unregister %d: %v", n, err)
		}
	}
	if n := len(kwatch.All()); n != 0 || s.n.Load() != 0 {
		t.Errorf("%d left, %d hits", n, s.n.Load())
	}
}

func symbol(t *suites.T) {
	var s seen
	reg, err := kwatch.RegisterKwatchSymbol("watch.word", 0, 0, kwatch.Write, s.hit)
	t.Must(err)
	incWord()
	if l := off(t, reg); l.Length != 8 || l.Addr != wordAt() || s.n.Load() != 1 {
		t.Errorf("%+v, %d hits", l, s.n.Load())
	}
	_, err = kwatch.RegisterKwatchSymbol("watch.wort", 0, 0, kwatch.Write, s.hit)
	if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "word") {
		t.Errorf("a wrong name: %v", err)
	}
}

// heapObject: the watchpoint alone refers to the object, through collections.
func heapObject(t *suites.T) {
	var s seen
	p := new([64]uint64)
	addr := uintptr(unsafe.Pointer(p)) // does not refer to it
	reg, err := kwatch.RegisterKwatchObject(unsafe.Pointer(p), 8, kwatch.Write, s.hit)
	t.Must(err)
	p = nil
	for range 3 {
		runtime.GC()
		for range 1000 {
			if q := new([64]uint64); uintptr(unsafe.Pointer(q)) == addr {
				t.Fatalf("it was freed")
			}
		}
	}
	*(*uint64)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))) = 7
	off(t, reg)
	if s.n.Load() != 1 || s.hits[0].New != 7 {
		t.Errorf("%d hits, %+v", s.n.Load(), s.hits[0])
	}
}

// xmmSurvive: the watched code finds all registers as it left them, the floating-point ones
// too, which handlers use.
func xmmSurvive(t *suites.T) {
	all := targets.Shapes()
	i := slices.IndexFunc(all, func(s targets.Shape) bool { return s.Name == "movAbs" })
	want, err := all[i].Run()
	t.Must(err)
	sum := 1.0
	for name, h := range map[string]func(){
		"nothing":        func() {},
		"floating point": func() { sum = sum*1.5 + 1 },
		"assembly":       targets.Clobber,
	} {
		n := 0
		reg := on(t, all[i].Entry, 1, kwatch.Execute, func(*kwatch.Hit, *amd64.Regs) { n++; h() })
		got, err := all[i].Run()
		off(t, reg)
		t.Must(err)
		if d := got[0].Diff(&want[0]); d != "" || n != 1 {
			t.Errorf("%s: %d hits; %s", name, n, d)
		}
	}
}
