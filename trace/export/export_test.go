package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"
	"google.golang.org/protobuf/encoding/protowire"
	"sonde/kallsyms"
	"sonde/trace/lang"
	"sonde/trace/out"
)

// written is what a format makes of two calls in two threads, a series and two stacks.
func written(t *testing.T, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	s, ok := New(format, &b)
	if !ok {
		t.Fatalf("there is no format %s", format)
	}
	for _, e := range []*Event{{1500, 0, 4194311, "kernel", 3, 'B', "vfs.Read", "in \"x\""}, {2750, 0, 4194311, "kernel", 3, 'E', "vfs.Read", "out"}, {3001, 7, 8, "worker", 3, 'i', "kprobe:f", "\x01"}, {3002, 7, 7, "sh", 3, 'i', "g", ""},
		{3003, 7, 7, "cat", 3, 'i', "g", ""}, {3004, 7, 8, "worker", 3, 'i', "g", ""}} {
		if err := s.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*out.SeriesPoint{{Name: "@x", At: 1e9, Value: -5}, {Name: "@x", At: 2e9, Value: 6}, {Name: "@x", At: 3e9, Value: 7, Unsigned: true}, {Name: "@x", At: 4e9, Value: -1 << 63, Unsigned: true}} {
		if err := s.Point(p); err != nil {
			t.Fatal(err)
		}
	}
	kernel := func(name string) kallsyms.Named { return kallsyms.Named{Name: name, Function: true} }
	user := func(name, file string, function bool) kallsyms.Named {
		return kallsyms.Named{Name: name, Offset: 7, File: file, Function: function}
	}
	for _, c := range []*out.StackCount{
		{Labels: []string{"cat", "a;b"}, Frames: []kallsyms.Named{kernel("leaf"), kernel("mid"), user("main", "/bin/cat", true)}, N: 3},
		{Labels: []string{"sh"}, Frames: []kallsyms.Named{kernel("mid"), user("libc.so.6", "/lib/libc.so.6", false), user("[anon]", "[anon]", false), user("main", "/bin/sh", true)}, N: 70000},
	} {
		if err := s.Stack(c); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFolded(t *testing.T) {
	if got, want := string(written(t, "folded")), "cat;a:b;main;mid;leaf 3\nsh;main;[anon];[libc.so.6];mid 70000\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestChrome(t *testing.T) {
	var file struct {
		DisplayTimeUnit string
		TraceEvents     []struct {
			Name, Ph string
			Ts       float64
			PID, TID int
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(written(t, "chrome"), &file); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range file.TraceEvents {
		got = append(got, fmt.Sprint(e.Ph, " ", e.Name, " ", e.Ts, " ", e.PID, " ", e.TID, " ", e.Args))
	}
	want := []string{"M process_name 0 0 0 map[name:kernel]", "M thread_name 0 0 4194311 map[name:goroutine 7]", `B vfs.Read 1.5 0 4194311 map[cpu:3 says:in "x"]`,
		"E vfs.Read 2.75 0 4194311 map[cpu:3 says:out]", "M process_name 0 7 7 map[name:worker]", "M thread_name 0 7 8 map[name:worker]", "i kprobe:f 3.001 7 8 map[cpu:3 says:\x01]",
		"M process_name 0 7 7 map[name:sh]", "M thread_name 0 7 7 map[name:sh]", "i g 3.002 7 7 map[cpu:3 says:]",
		"M process_name 0 7 7 map[name:cat]", "M thread_name 0 7 7 map[name:cat]", "i g 3.003 7 7 map[cpu:3 says:]", "i g 3.004 7 8 map[cpu:3 says:]",
		"C @x 1e+06 0 0 map[value:-5]", "C @x 2e+06 0 0 map[value:6]", "C @x 3e+06 0 0 map[value:7]", "C @x 4e+06 0 0 map[value:9.223372036854776e+18]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	var empty bytes.Buffer
	s, _ := New("chrome", &empty)
	if s.Close(); !json.Valid(empty.Bytes()) {
		t.Errorf("without events: %s", &empty)
	}
}

func TestProfile(t *testing.T) {
	p, err := google.ParseData(written(t, "pprof"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.CheckValid(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range p.Sample {
		line := fmt.Sprint(s.Value, s.Label)
		for _, l := range s.Location {
			line += " " + l.Line[0].Function.Name + " " + l.Mapping.File
		}
		got = append(got, line)
	}
	want := []string{"[3] map[key:[cat] key2:[a;b]] leaf [kernel] mid [kernel] main /bin/cat",
		"[70000] map[key:[sh]] mid [kernel] [libc.so.6] /lib/libc.so.6 [anon] [anon] main /bin/sh"}
	if !slices.Equal(got, want) || p.SampleType[0].Type != "events" || p.SampleType[0].Unit != "count" || p.Mapping[0].File != "/bin/cat" {
		t.Errorf("got %q %v", got, p)
	}
}

// TestLargeProfile: data of several blocks is one file of gzip.
func TestLargeProfile(t *testing.T) {
	var b bytes.Buffer
	s, _ := New("pprof", &b)
	for i := range 5000 {
		s.Stack(&out.StackCount{Frames: []kallsyms.Named{{Name: fmt.Sprint(strings.Repeat("f", 50), i)}}, N: 1})
	}
	s.Close()
	if p, err := google.ParseData(b.Bytes()); err != nil || len(p.Sample) != 5000 {
		t.Errorf("%v", err)
	}
}

// fields reads a message: numbers and bytes by field.
func fields(t *testing.T, b []byte) map[protowire.Number][]any {
	t.Helper()
	all := map[protowire.Number][]any{}
	for len(b) > 0 {
		n, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		b = b[size:]
		switch kind {
		case protowire.VarintType:
			v, size := protowire.ConsumeVarint(b)
			all[n], b = append(all[n], v), b[size:]
		case protowire.Fixed64Type:
			v, size := protowire.ConsumeFixed64(b)
			all[n], b = append(all[n], math.Float64frombits(v)), b[size:]
		case protowire.BytesType:
			v, size := protowire.ConsumeBytes(b)
			if size < 0 {
				t.Fatal(protowire.ParseError(size))
			}
			all[n], b = append(all[n], v), b[size:]
		default:
			t.Fatalf("field %d has the type %d", n, kind)
		}
	}
	return all
}

func TestPerfetto(t *testing.T) {
	var got []string
	names := map[any]any{nil: ""}
	for i, packet := range fields(t, written(t, "perfetto"))[1] {
		p := fields(t, packet.([]byte))
		if p[packetSequence][0] != uint64(1) || p[packetFlags][0] != map[bool]uint64{true: 3, false: 2}[i == 0] {
			t.Errorf("packet %d of no sequence, or with other flags: %v", i, p)
		}
		for _, b := range p[packetNames] {
			name := fields(t, fields(t, b.([]byte))[nameOfEvent][0].([]byte))
			if names[name[nameNumber][0]] != nil {
				t.Errorf("number %d is said twice", name[nameNumber])
			}
			names[name[nameNumber][0]] = name[nameText][0]
		}
		for _, b := range p[packetTrack] {
			d := fields(t, b.([]byte))
			name := d[trackName]
			for field, at := range map[protowire.Number]protowire.Number{trackProcess: 6, trackThread: 5} {
				for _, of := range d[field] {
					name = append(name, fields(t, of.([]byte))[at]...)
				}
			}
			got = append(got, fmt.Sprintf("track %d in %v %s%d%d%d", d[trackID][0], d[trackParent], name, len(d[trackProcess]), len(d[trackThread]), len(d[trackCounter])))
		}
		for _, b := range p[packetEvent] {
			e := fields(t, b.([]byte))
			var name any
			if len(e[eventName]) > 0 {
				name = e[eventName][0]
			}
			line := fmt.Sprintf("event %v at %v on %v %s %v", e[eventType], p[packetTime], e[eventTrack], names[name], append(e[eventCounter], e[eventDouble]...))
			for _, a := range e[eventAnnotation] {
				line += fmt.Sprintf(" %s", fields(t, a.([]byte))[annotationText])
			}
			got = append(got, line)
		}
	}
	want := []string{"track 1 in [] [kernel]100", "track 2 in [1] [goroutine 7]010", `event [1] at [1500] on [2] vfs.Read [] [in "x"]`, "event [2] at [2750] on [2] vfs.Read [] [out]",
		"track 3 in [] [worker]100", "track 4 in [3] [worker]010", "event [3] at [3001] on [4] kprobe:f [] [\x01]",
		"track 3 in [] [sh]100", "track 5 in [3] [sh]010", "event [3] at [3002] on [5] g [] []", "track 3 in [] [cat]100", "track 5 in [3] [cat]010", "event [3] at [3003] on [5] g [] []",
		"event [3] at [3004] on [4] g [] []", "track 6 in [] [@x]001",
		"event [4] at [1000000000] on [6]  [18446744073709551611]", "event [4] at [2000000000] on [6]  [6]", "event [4] at [3000000000] on [6]  [7]", "event [4] at [4000000000] on [6]  [9.223372036854776e+18]"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestCallsHaveTwoEnds: what a probe says begins or ends a call only if the script has a probe at the other end.
func TestCallsHaveTwoEnds(t *testing.T) {
	enter := &lang.Point{Provider: "tracepoint", Options: []string{"syscalls", "sys_enter_write"}, Text: "enter"}
	exit := &lang.Point{Provider: "tracepoint", Options: []string{"syscalls", "sys_exit_write"}, Text: "exit"}
	other := &lang.Point{Provider: "tracepoint", Options: []string{"syscalls", "sys_enter_read"}, Text: "other"}
	ready := &lang.Point{Provider: "tracepoint", Options: []string{"sched", "sched_wakeup"}, Text: "ready"}
	uprobe := &lang.Point{Provider: "uprobe", Options: []string{"/bin/myprog", "f"}, Text: "uprobe"}
	uretprobe := &lang.Point{Provider: "uretprobe", Options: []string{"/bin/myprog", "f"}, Text: "uretprobe"}
	u := &lang.Unit{}
	for _, p := range []*lang.Point{enter, exit, other, ready, uprobe, uretprobe} {
		u.Programs = append(u.Programs, &lang.Compiled{Point: p})
	}
	for p, want := range map[*lang.Point]string{enter: "B write", exit: "E write", other: "i other", ready: "i ready", uprobe: "B f", uretprobe: "E f"} {
		e := of(u, &lang.Action{Point: p}, out.Stamp{}, "")
		if got := fmt.Sprintf("%c %s", e.Phase, e.Name); got != want {
			t.Errorf("%s is %q, want %q", p.Text, got, want)
		}
	}
}
