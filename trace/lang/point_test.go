package lang

import (
	"slices"
	"strings"
	"testing"

	"sonde/arch/amd64/goabi"
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

// TestStackArguments: arguments after the return address are read from there.
func TestStackArguments(t *testing.T) {
	m := newMachine(t, `uprobe:a:many { printf("%d %d", args.a, args.g); @ = args.g; }`)
	m.setReg(112, 1<<40|5)
	m.setReg(goabi.PtRegsSP, 0x7000)
	m.memory[0x7000+16] = "\xfe\xff\x01\x01"
	m.run("uprobe")
	if got := m.show(); got != "@[]=-2 0(5,-2)" {
		t.Errorf("%q", got)
	}
}

// copiedFields are those of a function with copies at 0x1000 to 0x1040, none of which has all.
func copiedFields() []ArgField {
	return []ArgField{
		{Name: "n", Type: integer(4, true), Known: "4 of 5 copies", Copies: []CopyField{{Addr: 0x1030, Offset: 24, Stack: true}, {Addr: 0x1000, Offset: 40}, {Addr: 0x1010, Offset: 40}, {Addr: 0x1040, Offset: 16}}},
		{Name: "s", Type: Type{Kind: String, Go: true}, Known: "2 of 5 copies", Copies: []CopyField{{Addr: 0x1010, Offset: 80, More: []int{96}}, {Addr: 0x1030, Offset: 96, More: []int{80}}}},
		{Name: "none", Type: integer(8, true), Known: "0 of 5 copies", Copies: []CopyField{}},
		{Name: "last", Type: integer(8, true), Known: "1 of 5 copies", Copies: []CopyField{{Addr: 0x1040, Offset: 40}}},
		{Name: "all", Type: integer(8, true), Copies: []CopyField{{Addr: 0x1000, Offset: 40}, {Addr: 0x1010, Offset: 40}, {Addr: 0x1020, Offset: 40}, {Addr: 0x1030, Offset: 40}, {Addr: 0x1040, Offset: 40}}},
	}
}

// TestCopies: an argument of a copy is read where that copy has it. Where one that the program reads is not known,
// the program does nothing.
func TestCopies(t *testing.T) {
	for script, want := range map[string]string{
		`inline:copied { @a = count(); @[reg("ip") - 1] = args.n; }`:                            "@[4096]=-3 @[4112]=-3 @[4144]=77 @[4160]=9 @a[]=4",
		`inline:copied { @[reg("ip") - 1] = args.s; }`:                                          "@[4112]=abc @[4144]=xy",
		`inline:copied { @a = count(); if (args.n == 77) { @ = args.s; } }`:                     "@[]=xy @a[]=2",
		`inline:copied /args.n > 0/ { @ = count(); }`:                                           "@[]=2",
		`inline:copied { @[args.all] = count(); }`:                                              "@[-3]=5",
		`inline:copied { @ = count(); }`:                                                        "@[]=5",
		`inline:copied { @[reg("ip") - 1] = args.last; } inline:copied { @a = sum(args.all); }`: "@[4160]=-3 @a[]=-15",
	} {
		m := newMachine(t, script)
		m.setReg(goabi.PtRegsSP, 0x7000)
		m.memory[0x7000+24] = "\x4d\x00\x00\x00"
		m.memory[0x5000], m.memory[0x6000] = "abc", "xy"
		for addr := uint64(0x1000); addr <= 0x1040; addr += 0x10 {
			m.hit = addr
			m.setReg(goabi.PtRegsIP, addr+1) // after the INT3
			m.setReg(40, ^uint64(2))
			m.setReg(16, 9)
			m.setReg(80, 0x5000)
			m.setReg(96, 3)
			if addr == 0x1030 {
				m.setReg(80, 2)
				m.setReg(96, 0x6000)
			}
			m.run("inline")
		}
		if got := m.show(); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", script, got, want)
		}
	}
	m := newMachine(t, `inline:copied { @ = args.n + args.all; }`)
	if w := m.unit.Warnings; len(w) != 1 || !strings.Contains(w[0].Error(), "args.n is known in 4 of 5 copies: at the others, the program ends at once") {
		t.Error(w)
	}
	for script, want := range map[string]string{
		`inline:copied { @ = args.none; }`:         "args.none is known in no copy: it is in no register and not on the stack where they begin",
		`inline:copied { @[args.s] = args.last; }`: "no place of inline:copied has all the arguments that are read",
		`inline:copied { @ = args.q; }`:            "inline:copied has no argument q",
		`inline:copied { print(args); }`:           "no place of inline:copied has all the arguments that are read",
	} {
		s, err := Parse("stdin", script)
		if err == nil {
			_, err = Compile(s, &Options{Resolver: anywhere{}, CPUs: 4})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
	}
}

// TestQuotes: points are cut and arguments put in first, and quotes removed last; the text can be read again.
func TestQuotes(t *testing.T) {
	for script, want := range map[string][]string{
		`uprobe:"/tmp/co:lon/t1":work`:                    {"/tmp/co:lon/t1", "work"},
		`uprobe:"/tmp/at@x/t1":work`:                      {"/tmp/at@x/t1", "work"},
		`uprobe:"/tmp/dol$1/t1":work`:                     {"/tmp/dol$1/t1", "work"},
		`uprobe:/tmp/dol$1/t1:work`:                       {"/tmp/dolone/t1", "work"},
		`uprobe:"/tmp/sp ace/t1":"a{b,c}"`:                {"/tmp/sp ace/t1", "a{b,c}"},
		`uprobe:/bin/x:"_ZN$LT$std..x$GT$17h01E"`:         {"/bin/x", "_ZN$LT$std..x$GT$17h01E"},
		`uprobe:/bin/x:_ZN$LT$x$2E`:                       {"/bin/x", "_ZN$LT$xtwo:xE"},
		`uprobe:$3`:                                       {"/a:b", "f g"},
		`uprobe:/bin/x:"f[struct { A \"j:\\\"x\\\"\" }]"`: {"/bin/x", `f[struct { A "j:\"x\"" }]`},
		`uprobe:/bin/x:type:.eq.[2]a.B`:                   {"/bin/x", "type:.eq.[2]a.B"},
		`kprobe:"a.f[go.shape.struct { X int }]"`:         {"a.f[go.shape.struct { X int }]"},
		`kprobe:vmlinux:vfs.Read`:                         {"vfs.Read"},
		`kprobe:"a.f[x~0123~y"`:                           {"a.f[x~0123~y"},
		`kprobe:a.b[x,y]`:                                 {"a.b[x,y]"},
	} {
		s, err := Parse("stdin", script+" { } begin { }", "one", "two:x", `"/a:b":f g`)
		if err != nil {
			t.Errorf("%s: %v", script, err)
			continue
		}
		p := s.Probes[0].Points[0]
		if !slices.Equal(p.Options, want) || p.Source != "" {
			t.Errorf("%s: %q, %q", script, p.Options, p.Source)
		}
		again, err := Parse("stdin", p.Text+", kprobe:g { }", "another")
		if err != nil || len(again.Probes[0].Points) != 2 || !slices.Equal(again.Probes[0].Points[0].Options, want) || again.Probes[0].Points[0].Text != p.Text {
			t.Errorf("%s: %s: %v", script, p.Text, err)
		}
	}
	s, err := Parse("stdin", `uprobe:"/co:lon"@"a@b.c":7 { }`)
	if err != nil {
		t.Fatal(err)
	}
	if p := s.Probes[0].Points[0]; p.Source != "a@b.c" || p.Options[0] != "/co:lon" || p.Options[1] != "7" || p.Text != `uprobe:"/co:lon"@"a@b.c":7` {
		t.Errorf("%+v", p)
	}
	if got := Patterns(`kprobe:a[b,c],uprobe:"x,y":z`); !slices.Equal(got, []string{"kprobe:a[b,c]", `uprobe:"x,y":z`}) {
		t.Errorf("%q", got)
	}
}
