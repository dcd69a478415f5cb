package lang

import (
	"strings"
	"testing"
)

// TestMissing: what becomes of points that are not there is said by missing_probes.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		script, err string
		programs    int
		warnings    string
	}{
		{`kprobe:f, kprobe:vfs.Reed { }`, "No matches for kprobe vfs.Reed: there is no function vfs.Reed", 0, ""},
		{`config = { missing_probes = "error" } kprobe:vfs.Reed { }`, "No matches for kprobe vfs.Reed: ", 0, ""},
		{`config = { missing_probes = warn } kprobe:f, kprobe:vfs.Reed { }`, "", 1, "No matches for kprobe vfs.Reed. Skipping."},
		{`config = { missing_probes = warn } kprobe:f { } kprobe:vfs.Reed { }`, "", 1, "No matches for kprobe vfs.Reed. Skipping.|Probe has no valid attach points. It is being removed which may cause issues with program behavior."},
		{`config = { missing_probes = ignore } kprobe:vfs.Reed { } kprobe:f { } begin { }`, "", 2, ""},
		{`config = { missing_probes = ignore } kprobe:vfs.Reed { }`, "stdin:1:38-53: ERROR: No probes to attach", 0, ""},
	} {
		s, err := Parse("stdin", c.script)
		if err != nil {
			t.Fatal(err)
		}
		u, err := Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
		if err != nil || c.err != "" {
			if err == nil || c.err == "" || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s\n%v; want %s", c.script, err, c.err)
			}
			continue
		}
		var warnings []string
		for _, w := range u.Warnings {
			warnings = append(warnings, w.Why)
		}
		if got := strings.Join(warnings, "|"); len(u.Programs) != c.programs || got != c.warnings {
			t.Errorf("%s\n%d programs, %s\nwant %d, %s", c.script, len(u.Programs), got, c.programs, c.warnings)
		}
	}
}

// TestAllArguments: args is a record of what the point has, which differs from point to point.
func TestAllArguments(t *testing.T) {
	m := newMachine(t, `tracepoint:a:b, uprobe:a:many { $a = args; print($a); } tracepoint:a:b { @[args] = args.fd; }`)
	var want []string
	for _, a := range m.unit.Actions {
		if a.Kind == PrintValue {
			want = append(want, a.Args[0].String())
		}
	}
	if got := strings.Join(want, "|"); got != "(fd=int32,filename=uint8 *)|(a=int32,g=int16)" {
		t.Error(got)
	}
}

// TestStackArguments: arguments behind the return address are read from there.
func TestStackArguments(t *testing.T) {
	m := newMachine(t, `uprobe:a:many { printf("%d %d", args.a, args.g); @ = args.g; }`)
	m.setReg(112, 1<<40|5)
	m.setReg(offsetSP, 0x7000)
	m.memory[0x7000+16] = "\xfe\xff\x01\x01"
	m.run("uprobe")
	if got := m.show(); got != "@[]=-2 0(5,-2)" {
		t.Errorf("%q", got)
	}
}
