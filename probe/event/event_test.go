package event

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"sonde/arch/amd64"
	"sonde/probe/attach"
)

// The places of programs' events, as linux/calls says them.
func init() {
	for _, e := range events {
		if e.places == nil {
			Place(e.String(), "f")
		}
	}
}

// TestNumbered: tracepoints of the table, of a family, and none.
func TestNumbered(t *testing.T) {
	defer func() { families = nil }()
	Register(Family{First: 1000, ByID: func(id uint64) (Source, error) { return Source{Sites: make([]attach.Site, id-1000)}, nil }})
	for id, want := range map[uint64]int{firstID: 1, firstID - 1: -1, 999: -1, 1002: 2} {
		s, err := Numbered(id)
		if want < 0 && !errors.Is(err, syscall.ENOENT) || want >= 0 && (err != nil || len(s.Sites) != want) {
			t.Errorf("%d: %+v, %v", id, s, err)
		}
	}
}

// TestEventWithoutAPlace: it is not there.
func TestEventWithoutAPlace(t *testing.T) {
	e, err := Find("signal:signal_deliver")
	if err != nil {
		t.Fatal(err)
	}
	defer Place(e.String(), e.places[0])
	e.places = nil
	if _, err := Find(e.String()); !errors.Is(err, syscall.ENOENT) || ByID(e.ID) != nil || len(All()) != len(events)-1 {
		t.Error(err)
	}
}

// TestLayout: fields are aligned, do not overlap, and are inside the record; so are the words.
func TestLayout(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		at := common
		for _, f := range e.Fields {
			if f.Offset < at || !f.Text && f.Offset%f.Size != 0 || f.Word < texts || f.Word+16 > room || f.Word%8 != 0 {
				t.Errorf("%s: %+v at %d", e, f, at)
			}
			at = f.Offset + f.Size
		}
		if at > e.Size || e.Size > texts || seen[e.String()] || ByID(e.ID) != e {
			t.Errorf("%s: %d bytes, the last field ends at %d", e, e.Size, at)
		}
		seen[e.String()] = true
	}
	if ByID(firstID-1) != nil || ByID(firstID+len(events)) != nil {
		t.Error("there are events that are not")
	}
}

func TestFormat(t *testing.T) {
	e, err := Find("irq:irq_handler_entry")
	if err != nil {
		t.Fatal(err)
	}
	const want = `name: irq_handler_entry
ID: 109
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:int irq;	offset:8;	size:4;	signed:1;
	field:__data_loc char[] name;	offset:12;	size:4;	signed:0;

print fmt: "irq=%lld name=%s", REC->irq, __get_str(name)
`
	if got := Format(e.Name, e.ID, e.Fields, e.printed()); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestFindNamesNearOnes(t *testing.T) {
	_, err := Find("sched:sched_swich")
	if !errors.Is(err, syscall.ENOENT) || !strings.Contains(err.Error(), "did you mean sched:sched_switch?") {
		t.Error(err)
	}
}

// TestTexts: a text longer than its room is cut, and ends with a 0; the words have all of it.
func TestTexts(t *testing.T) {
	e, _ := Find("sched:sched_process_exit")
	r := &record{event: e}
	long := strings.Repeat("x", 1000)
	r.text(0, long)
	if got := string(r.mem[common : common+16]); got != strings.Repeat("x", 15)+"\x00" {
		t.Errorf("%q", got)
	}
	e, _ = Find("sched:sched_process_exec")
	r = &record{event: e, free: textsAt(e)}
	r.text(0, long)
	if at := textsAt(e); string(r.mem[at:texts]) != long[:texts-at-1]+"\x00" {
		t.Errorf("%q", r.mem[at:])
	}
}

// TestHit: the handler gets the record, and the registers of the hit.
func TestHit(t *testing.T) {
	e, _ := Find("irq:irq_handler_entry")
	var got string
	p := &point{event: e, last: make([]last, 1), to: func(h *attach.Hit) {
		b := (*record)(pointer(uint64(uintptr(unsafe.Pointer(&h.Data[0]))))).mem
		got = string(b[16:22])
		if h.Regs.BX != 7 || b[0] != byte(e.ID) || b[8] != 4 || b[12] != 16 || b[14] != 7 {
			t.Errorf("%v", b[:32])
		}
	}}
	p.hit(&attach.Hit{Regs: &amd64.Regs{BX: 7}})
	if got != "serial" {
		t.Errorf("%q", got)
	}
}
