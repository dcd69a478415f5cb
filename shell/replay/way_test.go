package replay

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/listing"
	"sonde/kernel/tape"
)

// way has one event of each kind, and one that is about another place.
func way() *Way {
	w := &Way{Take: *take(), CPUs: 2, Lost: 1}
	ns := uint64(0)
	add := func(cpu int32, what tape.What, a, b uint64) {
		ns += 700
		w.Events = append(w.Events, tape.Event{Time: ns, CPU: cpu, What: what, A: a, B: b})
	}
	add(0, tape.Poked, callerAt, 0xcc49)
	add(0, tape.Poked, funcAt, 0xcc49)
	add(1, tape.Serialized, callerAt, 0)
	add(0, tape.DetourMade, resumeAt-0x300, resumeAt)
	add(0, tape.GraceBegins, 0, 0)
	add(1, tape.Passed, tape.ByIdling, 0)
	add(0, tape.GraceOver, 0, 0)
	add(0, tape.Stopping, 0, 0)
	add(1, tape.Held, funcAt+4, 0)
	add(0, tape.Written, funcAt, 0x867e019d09c3e9)
	add(1, tape.LetGo, 0, 0)
	add(0, tape.StopOver, 1900, 0)
	w.Events[len(w.Events)-1].Time -= 900 // noted by another CPU
	return w
}

// TestWay: of other places only what concerns all of the machine is shown.
func TestWay(t *testing.T) {
	w := way()
	var b, slide bytes.Buffer
	if err := w.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteSlide(&slide); err != nil {
		t.Fatal(err)
	}
	golden(t, "way.txt", b.Bytes())
	one := way()
	one.CPUs = 4
	var many bytes.Buffer
	if err := one.WriteText(&many); err != nil {
		t.Fatal(err)
	}
	golden(t, "way-4.txt", many.Bytes())
	if got := wrapped("a bb "+strings.Repeat("c", 9), 4); !slices.Equal(got, []string{"a bb", "cccc", "cccc", "c"}) {
		t.Errorf("%q", got)
	}
	for line := range strings.Lines(b.String() + slide.String()) {
		if len(line) > listing.Width+1 || strings.ContainsFunc(line, func(r rune) bool { return r > '~' }) {
			t.Errorf("not plain text of %d columns: %q", listing.Width, line)
		}
	}
}

func TestWayFitsTheSchema(t *testing.T) {
	s := readSchema(t, "way-schema.json")
	var b bytes.Buffer
	if err := way().WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var v map[string]any
	if err := json.Unmarshal(b.Bytes(), &v); err != nil {
		t.Fatalf("%v: %s", err, b.Bytes())
	}
	if why := s.Fits(b.Bytes()); why != "" {
		t.Error(why)
	}
	seen := map[any]bool{}
	for _, step := range v["steps"].([]any) {
		step := step.(map[string]any)
		seen[step["step"]] = true
		if want := map[any]any{"poked": "cc", "written": "e9 c3 09 9d 01"}[step["step"]]; step["text"] != want {
			t.Errorf("%v has written %v, not %v", step["step"], step["text"], want)
		}
	}
	names := s.Properties["steps"].Items.Properties["step"].Enum
	for _, name := range names {
		if !seen[name] {
			t.Errorf("the schema has %v", name)
		}
	}
	if len(seen) != len(names) {
		t.Errorf("%d names, %d in the schema", len(seen), len(names))
	}
}
