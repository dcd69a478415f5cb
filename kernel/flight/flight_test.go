package flight

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"
)

// memory is what a reset leaves alone: Size bytes, at first of no meaning.
func memory() *[2]half {
	m := new([2]half)
	rnd := rand.New(rand.NewSource(1))
	rnd.Read(unsafe.Slice((*byte)(unsafe.Pointer(m)), Size))
	return m
}

// boot is a boot on m.
func boot(m *[2]half) *Recorder {
	r := new(Recorder)
	r.Open(unsafe.Pointer(m), rand.Uint64())
	return r
}

func (r *Recorder) say(s string) {
	for i := range len(s) {
		r.Put(s[i])
	}
}

// texts returns the messages of records.
func texts(list []Record) (all []string) {
	for _, r := range list {
		all = append(all, string(r.Text))
	}
	return all
}

func before(t *testing.T, r *Recorder) *Flight {
	t.Helper()
	f, err := r.Before()
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestTheNextBootReadsWhatThisOneWrote(t *testing.T) {
	m := memory()
	r := boot(m)
	if _, err := r.Before(); !errors.Is(err, ErrNone) || !errors.Is(err, syscall.ENOENT) {
		t.Errorf("on memory of no meaning: %v", err)
	}
	long := strings.Repeat("0123456789", 40)
	r.Stage(3)
	r.Log(0, 1e9, 6, 2, []byte("one"))
	r.Log(1, 2e9, 4, 0, []byte(long)) // 4 pieces
	r.Log(5, 3e9, 7, 31, nil)
	r.Hit(4e9, 1, []byte("hit"))
	r.say("panic: " + long + "\n")
	r.Stage(12)
	r.End(Crash)
	r.End(Restart)

	f := before(t, boot(m))
	if got := texts(f.Log); fmt.Sprint(got) != fmt.Sprint([]string{"one", long, ""}) || f.Lost != 0 {
		t.Errorf("log %q, %d lost", got, f.Lost)
	}
	if a, b := f.Log[0], f.Log[2]; a.Time != 1e9 || a.Level != 6 || a.CPU != 2 || b.Seq != 5 || b.Level != 7 || b.CPU != 31 {
		t.Errorf("%+v, %+v", a, b)
	}
	if got := texts(f.Hits); len(got) != 1 || got[0] != "hit" || f.Hits[0].CPU != 1 {
		t.Errorf("hits %q", got)
	}
	if string(f.Said) != "panic: "+long+"\n" || f.Stage != 12 || f.End != Crash || f.Boot != 1 {
		t.Errorf("said %q, stage %d, end %v, boot %d", f.Said, f.Stage, f.End, f.Boot)
	}
}

// Each boot shows the one before it, and none shows its own or an older one's records.
func TestManyBoots(t *testing.T) {
	m := memory()
	for i := range uint64(7) {
		r := boot(m)
		if i > 0 {
			f := before(t, r)
			if got := texts(f.Log); f.Boot != i || len(got) != int(8-i) || got[0] != fmt.Sprint(i-1, " 0") || f.End != Silent || f.Stage != uint8(i-1) {
				t.Errorf("boot %d: %+v", i, f)
			}
			if string(f.Said) != fmt.Sprint("said ", i-1) {
				t.Errorf("boot %d: %q", i, f.Said)
			}
		}
		for n := range 7 - i { // each leaves fewer: the older ones' lie after them
			r.Log(n, 0, 0, 0, fmt.Append(nil, i, " ", n))
		}
		r.say(fmt.Sprint("said ", i))
		r.Stage(uint8(i))
		other := new([2]half)
		*other = *m
		r.Move(unsafe.Pointer(other)) // as when the kernel's tables come
		r.Hit(0, 0, []byte("moved"))
		m = other
	}
}

func TestTheRingsGoRound(t *testing.T) {
	m := memory()
	r := boot(m)
	for i := range uint64(3 * logSlots / 2) { // two slots each
		r.Log(2*i, 0, 0, 0, []byte(fmt.Sprintf("%-130d.", i)))
	}
	for i := range hitSlots * 2 {
		r.Hit(0, 0, fmt.Append(nil, i))
	}
	text := strings.Repeat("abcdefghij\n", 4000)
	r.say(text)
	f := before(t, boot(m))
	if n := len(f.Log); n != logSlots/2 || !strings.HasPrefix(string(f.Log[0].Text), "2048 ") || f.Lost != 0 {
		t.Errorf("%d records from %.10q on, %d lost", n, f.Log[0].Text, f.Lost)
	}
	if n := len(f.Hits); n != hitSlots || string(f.Hits[0].Text) != fmt.Sprint(hitSlots) {
		t.Errorf("%d hits from %q on", n, f.Hits[0].Text)
	}
	if n := len(f.Said); n < (saidCells-1)*cellText || !strings.HasSuffix(text, string(f.Said)) {
		t.Errorf("%d bytes said, ending in %.30q", n, f.Said[max(0, n-30):])
	}
}

// A bit that has turned in the head makes all of it unknown, once.
func TestADamagedHeadShowsNothing(t *testing.T) {
	for _, at := range []uintptr{unsafe.Offsetof(head{}.size), unsafe.Offsetof(head{}.boot), unsafe.Offsetof(head{}.seed), unsafe.Offsetof(head{}.sum),
		unsafe.Offsetof(head{}.stage), unsafe.Offsetof(head{}.end)} {
		for _, boots := range []int{1, 2} { // the second writes to the other half
			m := memory()
			for range boots {
				boot(m).Log(0, 0, 0, 0, []byte("one"))
			}
			*(*byte)(unsafe.Add(unsafe.Pointer(&m[boots-1]), at+3)) ^= 0x10
			r := boot(m)
			if f, err := r.Before(); !errors.Is(err, ErrDamaged) || !errors.Is(err, syscall.EBADMSG) {
				t.Errorf("byte %d of half %d: %+v, %v", at, boots-1, f, err)
			}
			r.Log(0, 0, 0, 0, []byte("two"))
			if f := before(t, boot(m)); len(f.Log) != 1 || string(f.Log[0].Text) != "two" {
				t.Errorf("byte %d of half %d: afterwards %q", at, boots-1, texts(f.Log))
			}
		}
	}
}

// Of records and of what was said only that is shown which is as it was written.
func TestDamagedRecordsAreLeftOut(t *testing.T) {
	rnd, untouched := rand.New(rand.NewSource(2)), 0
	for range 300 {
		m := memory()
		r := boot(m)
		want := map[string]bool{}
		for i := range uint64(50) {
			text := fmt.Sprintf("record %d %s", i, strings.Repeat("x", int(i)*4))
			want[text] = true
			r.Log(2*i, int64(i), 0, 0, []byte(text)[:min(len(text), 2*slotText)])
		}
		said := ""
		for i := range 20 {
			said += fmt.Sprintf("%-56d", i)
		}
		r.say(said)
		h := &m[0]
		for range 1 + rnd.Intn(8) {
			*(*byte)(unsafe.Add(unsafe.Pointer(&h.log), rnd.Intn(100*int(unsafe.Sizeof(slot{}))))) ^= 1 << rnd.Intn(8)
			*(*byte)(unsafe.Add(unsafe.Pointer(&h.said), rnd.Intn(10*int(unsafe.Sizeof(cell{}))))) ^= 1 << rnd.Intn(8)
		}
		f := before(t, boot(m))
		for _, rec := range f.Log {
			if !rec.Cut && !want[string(rec.Text)] {
				t.Fatalf("%q was never logged", rec.Text)
			}
		}
		for i := 0; i < len(f.Said); i += cellText {
			if part := string(f.Said[i : i+cellText]); !strings.Contains(said, part) {
				t.Fatalf("%q was never said", part)
			}
		}
		if bytes.Equal(f.Said, []byte(said)) {
			untouched++ // two bits may have turned the same
		}
	}
	if untouched > 10 {
		t.Errorf("%d times the damage was not noticed", untouched)
	}
}

func TestRecordsOfManyCPUs(t *testing.T) {
	m := memory()
	r := boot(m)
	var wg sync.WaitGroup
	for c := range 8 {
		wg.Go(func() {
			for i := range 16 {
				r.Log(uint64(i*8+c), 0, 0, c, fmt.Append(nil, "cpu ", c))
				r.Hit(0, c, fmt.Append(nil, "cpu ", c))
			}
		})
	}
	wg.Wait()
	f := before(t, boot(m))
	if len(f.Log) != 128 || len(f.Hits) != 128 || f.Lost != 0 {
		t.Errorf("%d records, %d hits, %d lost", len(f.Log), len(f.Hits), f.Lost)
	}
	for _, rec := range append(f.Log, f.Hits...) {
		if string(rec.Text) != fmt.Sprint("cpu ", rec.CPU) {
			t.Fatalf("%+v", rec)
		}
	}
}

func TestWithoutMemoryNothingIsKept(t *testing.T) {
	var r Recorder
	r.Log(0, 0, 0, 0, []byte("x"))
	r.Hit(0, 0, []byte("x"))
	r.Stage(1)
	r.End(Crash)
	r.Put('x')
	if _, err := r.Before(); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func TestNothingIsAllocated(t *testing.T) {
	r := boot(memory())
	text := make([]byte, maxText+10)
	if n := testing.AllocsPerRun(100, func() { r.Log(7, 0, 0, 0, text); r.Hit(0, 0, text); r.Put('x'); r.Stage(1) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
