//go:build tamago && !nolinux

// Package tracepoints tests each tracepoint: what it stands for happens, and its record says so.
package tracepoints

import (
	"encoding/binary"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"sonde/kernel/goruntime"
	"sonde/kernel/mm/frame"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/probe/attach"
	"sonde/probe/event"
)

func init() {
	suites.Add("tracepoints/each_has_its_fields", eachHasItsFields)
	suites.Add("tracepoints/files", files)
	suites.Add("tracepoints/balance", balance)
}

// records are what the records of one event have said, in the order in which they came. They are not in the
// image, which a loader would have to clear.
var records [][128]uint64

// note keeps a record. It is called on any CPU; each writes its own place.
func note(h *attach.Hit) {
	at := count.add()
	if at < len(records) {
		copy(records[at][:], h.Data)
	}
}

// A record is one, with its fields by name.
type record map[string]any

// parse reads a record as programs in ring 3 do: by the offsets of the file format.
func parse(e *event.Event, words *[128]uint64) record {
	var raw []byte
	for _, w := range words {
		raw = binary.LittleEndian.AppendUint64(raw, w)
	}
	r := record{"common_type": int64(binary.LittleEndian.Uint16(raw)), "common_pid": int64(int32(binary.LittleEndian.Uint32(raw[4:])))}
	for _, f := range e.Fields {
		b := raw[f.Offset : f.Offset+f.Size]
		switch {
		case f.Loc:
			v := binary.LittleEndian.Uint32(b)
			r[f.Name] = cString(raw[v&0xffff : v&0xffff+v>>16])
		case f.Text:
			r[f.Name] = cString(b)
		default:
			v := int64(binary.LittleEndian.Uint64(append(append([]byte{}, b...), make([]byte, 8)...)))
			if f.Signed {
				v = v << (64 - 8*f.Size) >> (64 - 8*f.Size)
			}
			r[f.Name] = v
			if word := int64(words[f.Word/8]); word != v {
				r["wrong word of "+f.Name] = word
			}
		}
	}
	return r
}

func cString(b []byte) string {
	text, _, _ := strings.Cut(string(b), "\x00")
	return text
}

// watch returns the records of an event while f runs.
func watch(t *suites.T, e *event.Event, f func()) (all []record) {
	count.n.Store(0)
	records = make([][128]uint64, 2048)
	l, err := attach.AttachTo(note, nil, "event:"+e.String())
	t.Must(err)
	f()
	l.Close()
	n := int(count.n.Load())
	if got := l.Ledger(); got.Unexplained() != 0 || got.Handled < uint64(n) {
		t.Errorf("%s: %d records, %+v", e, n, got)
	}
	for i := range min(n, len(records)) {
		all = append(all, parse(e, &records[i]))
	}
	return all
}

// happen has for each event how it happens, and what some record must say: a number, a text, or a function
// that looks at what there is.
var happen = map[string]struct {
	do   func()
	want record
}{
	"sched:sched_switch": {script("/bin/true"), record{"prev_comm": "true", "prev_pid": is(program), "prev_prio": int64(120), "prev_state": int64(16),
		"next_comm": "swapper", "next_pid": int64(0), "next_prio": int64(120), "prev_goid": is(above0), "next_goid": int64(0)}},
	"sched:sched_wakeup":       {script("/bin/true"), record{"comm": "ktest", "pid": is(goroutine), "prio": int64(120), "target_cpu": is(cpu), "goid": is(above0)}},
	"sched:sched_wakeup_new":   {starting, record{"comm": "ktest", "pid": is(goroutine), "prio": int64(120), "target_cpu": is(cpu), "goid": is(above0)}},
	"sched:sched_process_fork": {script(`/bin/sh -c "/bin/true; /bin/true"`), record{"parent_comm": "sh", "parent_pid": is(program), "child_comm": "sh", "child_pid": is(program)}},
	"sched:sched_process_exec": {script("/bin/true"), record{"filename": "/bin/true", "pid": is(program), "old_pid": is(program)}},
	"sched:sched_process_exit": {script("/bin/true"), record{"comm": "true", "pid": is(program), "prio": int64(120)}},
	"sched:sched_stat_runtime": {script("/bin/true"), record{"comm": "true", "pid": is(program), "runtime": is(above0), "goid": is(above0)}},
	"signal:signal_generate": {script(`/bin/sh -c "kill -USR1 \$\$"`), record{"sig": int64(10), "errno": int64(0), "code": int64(0), "comm": "sh", "pid": is(program),
		"group": int64(1), "result": int64(0)}},
	"signal:signal_deliver":        {script(`/bin/sh -c "kill -TERM \$\$"`), record{"sig": int64(15), "errno": int64(0), "code": int64(0), "sa_handler": is(any0), "sa_flags": is(any0)}},
	"irq:irq_handler_entry":        {sleeping, record{"irq": is(above0), "name": "timer"}},
	"irq:irq_handler_exit":         {sleeping, record{"irq": is(above0), "ret": int64(1)}},
	"kmem:mm_page_alloc":           {pages, record{"pfn": is(thePage), "order": int64(0), "gfp_flags": int64(0), "migratetype": int64(0)}},
	"go:goroutine_create":          {starting, record{"goid": is(above0), "parent": is(mine)}},
	"go:goroutine_exit":            {starting, record{"goid": is(above0)}},
	"go:park":                      {sleeping, record{"goid": is(mine), "reason": "sleep"}},
	"go:ready":                     {sleeping, record{"goid": is(mine), "by": is(any0)}},
	"go:gc_start":                  {collecting, record{"num": is(collected)}},
	"go:gc_mark_done":              {collecting, record{"num": is(collected)}},
	"go:gc_end":                    {collecting, record{"num": is(collected)}},
	"go:stack_grow":                {growing, record{"goid": is(above0), "old_size": is(power), "new_size": is(power)}},
	"exceptions:page_fault_user":   {script("/bin/true"), record{"address": is(above0), "ip": is(above0), "error_code": is(userFault)}},
	"exceptions:page_fault_kernel": {script("/bin/true"), record{"address": is(above0), "ip": is(inKernel), "error_code": is(any0)}},
	"go:mallocgc":                  {allocating, record{"size": int64(54321), "type": is(any0)}},
}

func eachHasItsFields(t *suites.T) {
	t.OneProcessor()
	t.NeedPrograms()
	me = int64(goruntime.Goid(goruntime.Self()))
	for _, e := range event.All() {
		h, ok := happen[e.String()]
		if !ok {
			t.Errorf("nobody tests %s", e)
			continue
		}
		all := watch(t, e, h.do)
		best, missing := record(nil), len(h.want)+1
		for _, r := range all {
			if wrong := differ(r, h.want); len(wrong) < missing {
				best, missing = r, len(wrong)
			}
		}
		if missing != 0 || len(h.want) != len(e.Fields) {
			t.Errorf("%s: of %d records %v is nearest: %v", e, len(all), best, differ(best, h.want))
		}
		for _, r := range all[:min(len(all), 1)] {
			if r["common_type"] != int64(e.ID) {
				t.Errorf("%s: common_type %v", e, r["common_type"])
			}
		}
	}
}

// differ returns which fields are not as they must be.
func differ(r, want record) (wrong []string) {
	for name, w := range want {
		if f, ok := w.(func(any) bool); ok && f(r[name]) || !ok && r[name] == w {
			continue
		}
		wrong = append(wrong, fmt.Sprintf("%s is %v", name, r[name]))
	}
	for name := range r {
		if strings.HasPrefix(name, "wrong") {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func not(text string) func(any) bool { return func(v any) bool { return v != text } }

func is(f func(int64) bool) func(any) bool {
	return func(v any) bool {
		n, ok := v.(int64)
		return ok && f(n)
	}
}

var me int64 // the number of the goroutine that tests

func above0(n int64) bool    { return n > 0 }
func any0(int64) bool        { return true }
func program(n int64) bool   { return n > 1 && n < 0x400000 }
func goroutine(n int64) bool { return n > 0x400000 }
func cpu(n int64) bool       { return n >= 0 && n < 64 }
func userFault(n int64) bool { return n&4 != 0 }
func inKernel(n int64) bool  { return n < 0 }
func mine(n int64) bool      { return n == me }
func power(n int64) bool     { return n >= 2048 && n&(n-1) == 0 }

func collected(n int64) bool {
	_, ended := goruntime.GC()
	return n > 0 && n <= int64(ended)
}

func script(line string) func() { return func() { suites.Script(io.Discard, line) } }

func sleeping() { time.Sleep(30 * time.Millisecond) }

func starting() {
	done := make(chan bool)
	go func() { done <- true }()
	<-done
	time.Sleep(10 * time.Millisecond) // it has to end
}

// collecting collects twice: GC returns when another goroutine may still be at the end of its collection, but not of
// the one before.
func collecting() {
	runtime.GC()
	runtime.GC()
}

var kept []byte

func allocating() { kept = make([]byte, 54321) }

// growing runs a goroutine whose stack must grow.
func growing() {
	done := make(chan int)
	go func() { done <- deep(200) }()
	<-done
}

//go:noinline
func deep(n int) int {
	var room [128]byte
	if n == 0 {
		return int(room[n])
	}
	return deep(n-1) + int(room[n&127])
}

var page int64

func thePage(n int64) bool { return n == page>>12 }

func pages() {
	f, err := frame.Kernel.Alloc()
	if err == nil {
		page = int64(f)
		frame.Kernel.Put(f)
	}
}

// files: each event has its number and its format in both places.
func files(t *suites.T) {
	for _, e := range event.All() {
		for _, root := range []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"} {
			dir := root + "/events/" + e.System + "/" + e.Name
			id, err := vfs.ReadFile(dir + "/id")
			t.Must(err)
			format, err := vfs.ReadFile(dir + "/format")
			t.Must(err)
			of, err := event.Numbered(uint64(e.ID))
			t.Must(err)
			if string(id) != fmt.Sprintf("%d\n", e.ID) || string(format) != event.Format(e.Name, e.ID, of.Fields, of.Print) || event.ByID(e.ID) != e {
				t.Errorf("%s: %q, %q", dir, id, format)
			}
		}
	}
}

// balance: two links at one event each get every hit.
func balance(t *suites.T) {
	a, err := attach.AttachTo(nil, nil, "event:go:mallocgc")
	t.Must(err)
	b, err := attach.AttachTo(nil, nil, "event:go:mallocgc", "event:sched:sched_switch")
	t.Must(err)
	for range 1000 {
		allocating()
	}
	b.Close()
	a.Close()
	if x, y := a.Ledger(), b.Places()[0].Ledger; x.Handled < 1000 || y.Handled < 1000 || x.Unexplained() != 0 || b.Ledger().Unexplained() != 0 {
		t.Errorf("%+v, %+v", x, y)
	}
}
