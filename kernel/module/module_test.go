package module

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// fresh empties the table for one test.
func fresh(t *testing.T) {
	t.Helper()
	known, loaded, hooks := table.known, table.loaded, table.onUnload
	table.known, table.loaded, table.onUnload = nil, nil, nil // clashes is made with known
	t.Cleanup(func() { table.known, table.loaded, table.onUnload = known, loaded, hooks })
}

// sample is a module with one parameter of each type.
type sample struct {
	symbol string
	count  int
	addr   uint64
	trace  bool
	init   error
	log    []string
}

func (s *sample) register() {
	Register(&Module{
		Name: "kprobe_example",
		Doc:  "plants a probe",
		Params: Params{
			"symbol": String(&s.symbol, "function to probe"),
			"count":  Int(&s.count, "how often"),
			"addr":   Uint(&s.addr, "where"),
			"trace":  Bool(&s.trace, "print hits"),
		},
		Init: func() error { s.log = append(s.log, "init"); return s.init },
		Exit: func() { s.log = append(s.log, "exit") },
	})
}

func TestParametersReachTheirVariablesAndGoBack(t *testing.T) {
	fresh(t)
	s := &sample{symbol: "vfs.Read", count: 3}
	s.register()
	if err := Insmod("kprobe_example", "symbol=vfs.(*File).Read", "count=-5", "addr=0x1000", "trace=y"); err != nil {
		t.Fatal(err)
	}
	if s.symbol != "vfs.(*File).Read" || s.count != -5 || s.addr != 0x1000 || !s.trace {
		t.Errorf("set: %+v", s)
	}
	if err := Rmmod("kprobe_example"); err != nil {
		t.Fatal(err)
	}
	if err := Insmod("kprobe_example", "trace"); err != nil {
		t.Fatal(err)
	}
	if s.symbol != "vfs.Read" || s.count != 3 || s.addr != 0 || !s.trace {
		t.Errorf("not back to defaults: %+v", s)
	}
	if got := strings.Join(s.log, " "); got != "init exit init" {
		t.Errorf("called: %s", got)
	}
}

func TestRefusalsHaveTheirErrnoAndSayWhat(t *testing.T) {
	fresh(t)
	s := &sample{symbol: "vfs.Read"}
	s.register()
	Register(&Module{Name: "stuck"})
	Register(&Module{Name: "bomb", Init: func() error { panic("boom") }})
	tests := []struct {
		name string
		do   func() error
		want error
		text string
	}{
		{"unknown", func() error { return Insmod("zzz") }, syscall.ENOENT, "no such module"},
		{"near", func() error { return Insmod("kprobe-exmaple.ko") }, syscall.ENOENT, "(did you mean kprobe_example?)"},
		{"unknown parameter", func() error { return Insmod("kprobe_example", "sym=x") }, syscall.EINVAL, "known: addr, count, symbol, trace"},
		{"no parameters", func() error { return Insmod("stuck", "a=b") }, syscall.EINVAL, "has no parameters"},
		{"bad int", func() error { return Insmod("kprobe_example", "symbol=x", "count=many") }, syscall.EINVAL, "count=many: give a whole number"},
		{"no value", func() error { return Insmod("kprobe_example", "symbol") }, syscall.EINVAL, "parameter symbol: give a value, as in symbol=VALUE"},
		{"bad bool", func() error { return Insmod("kprobe_example", "trace=maybe") }, syscall.EINVAL, "trace"},
		{"negative uint", func() error { return Insmod("kprobe_example", "addr=-1") }, syscall.EINVAL, "addr"},
		{"not loaded", func() error { return Rmmod("kprobe_example") }, syscall.ENOENT, "not loaded"},
		{"rmmod unknown", func() error { return Rmmod("zzz") }, syscall.ENOENT, "no such module"},
		{"load", func() error { return Insmod("stuck") }, nil, ""},
		{"twice", func() error { return Insmod("stuck") }, syscall.EEXIST, "already loaded"},
		{"no exit", func() error { return Rmmod("stuck") }, syscall.EBUSY, "stuck"},
		{"panic", func() error { return Insmod("bomb") }, syscall.EFAULT, "boom"},
	}
	for _, tt := range tests {
		err := tt.do()
		if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, err, tt.want, tt.text)
		}
	}
	if s.symbol != "vfs.Read" {
		t.Errorf("a refused insmod left symbol=%s", s.symbol)
	}
	if len(Loaded()) != 1 {
		t.Errorf("loaded: %v", Loaded())
	}
}

func TestFailedInitLeavesEverythingAsItWas(t *testing.T) {
	fresh(t)
	s := &sample{symbol: "vfs.Read", init: syscall.ENOMEM}
	s.register()
	if err := Insmod("kprobe_example", "symbol=other"); !errors.Is(err, syscall.ENOMEM) {
		t.Errorf("got %v", err)
	}
	if s.symbol != "vfs.Read" || len(Loaded()) != 0 || ProcModules() != "" {
		t.Errorf("left behind: %s, %v", s.symbol, Loaded())
	}
	s.init = nil
	if err := Insmod("kprobe_example"); err != nil {
		t.Errorf("second try: %v", err)
	}
}

func TestProcModulesIsAsInLinux(t *testing.T) {
	fresh(t)
	for _, name := range []string{"a", "b"} {
		Register(&Module{Name: name})
		if err := Insmod(name); err != nil {
			t.Fatal(err)
		}
	}
	want := "b 0 0 - Live 0x0000000000000000\na 0 0 - Live 0x0000000000000000\n"
	if got := ProcModules(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestModuleMayLoadAnother(t *testing.T) {
	fresh(t)
	Register(&Module{Name: "inner"})
	Register(&Module{Name: "outer", Init: func() error {
		if s := Loaded()[0]; s.Name != "outer" || s.State != Loading {
			t.Errorf("while loading: %+v", s)
		}
		return Insmod("inner")
	}})
	if err := Insmod("outer"); err != nil || len(Loaded()) != 2 {
		t.Errorf("%v, loaded %v", err, Loaded())
	}
}

func TestTwoModulesOfOneName(t *testing.T) {
	fresh(t)
	first, second := &sample{}, &sample{}
	first.register()
	second.register()
	err := Insmod("kprobe_example")
	if !errors.Is(err, syscall.EEXIST) || !strings.Contains(err.Error(), "two modules have this name") || strings.Count(err.Error(), "module_test.go") != 2 {
		t.Errorf("got %v", err)
	}
	if len(Loaded()) != 0 || len(first.log)+len(second.log) != 0 {
		t.Errorf("loaded %v, %v, %v", Loaded(), first.log, second.log)
	}
	fresh(t)
	first.register()
	if err := Insmod("kprobe_example"); err != nil {
		t.Errorf("alone: %v", err)
	}
}

// TestSenselessValuesAreRefused, each with what it was taken for, and change nothing.
func TestSenselessValuesAreRefused(t *testing.T) {
	fresh(t)
	n, target := 20, "vfs.*"
	inits := 0
	Register(&Module{
		Name: "counts",
		Params: Params{
			"n":      Int(&n, "how many").Within(1, 100),
			"target": String(&target, "where").Given(),
		},
		Init: func() error { inits++; return nil },
		Exit: func() {},
	})
	for param, want := range map[string]string{
		"n=-1":                  "parameter n=-1: -1 is not from 1 to 100",
		"n=0x65":                "parameter n=0x65: 101 is not from 1 to 100",
		"n=9223372036854775807": "is not from 1 to 100",
		"n=many":                "n=many: give a whole number",
		"n=":                    "n=: give a whole number",
		"target=":               "parameter target=: it is empty",
	} {
		err := Insmod("counts", "n=7", param)
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), want) || n != 20 || target != "vfs.*" || inits != 0 {
			t.Errorf("%s: %v; n is %d, target %q, Init called %d times", param, err, n, target, inits)
		}
	}
	for _, param := range []string{"n=1", "n=100", "target=x"} {
		if err := Insmod("counts", param); err != nil {
			t.Error(err)
		}
		if err := Rmmod("counts"); err != nil {
			t.Error(err)
		}
	}
}

// counter is a module that counts in an instance, with what its instances have done.
type counter struct {
	target string
	n      int
	log    *[]string
}

func registerCounter(log *[]string) {
	Register(&Module{Name: "funclatency", Doc: "counts", New: func(name string) *Instance {
		c := &counter{n: 7, log: log}
		return &Instance{
			Params: Params{"target": String(&c.target, "where"), "n": Int(&c.n, "how many")},
			Init: func() error {
				*log = append(*log, fmt.Sprintf("%s of %s begins at %s, n %d", Current(), name, c.target, c.n))
				if c.target == "" {
					return syscall.EINVAL
				}
				return nil
			},
			Exit: func() { *log = append(*log, Current()+" ends at "+c.target) },
		}
	}})
}

func TestInstancesOfOneModule(t *testing.T) {
	fresh(t)
	var log, gone []string
	registerCounter(&log)
	OnUnload(func(name string) []string { gone = append(gone, name); return nil })
	for _, params := range [][]string{{"target=A", "name=a"}, {"name=b", "target=B", "n=3"}, {"target=C"}} {
		if err := Insmod("funclatency", params...); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := ProcModules(), "funclatency 0 0 - Live 0x0000000000000000\nb 0 0 - Live 0x0000000000000000\na 0 0 - Live 0x0000000000000000\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if b, err := Lookup("b"); err != nil || b.Module.Name != "funclatency" || b.Params["target"].Value() != "B" || b.Params["n"].Value() != "3" {
		t.Errorf("b is %+v, %v", b, err)
	}
	for _, name := range []string{"a", "funclatency", "b"} {
		if err := Rmmod(name); err != nil {
			t.Error(err)
		}
	}
	if s, err := Lookup("funclatency"); err != nil || s.State != "" || s.Params["n"].Value() != "7" {
		t.Errorf("not loaded it is %+v, %v", s, err)
	}
	want := []string{"a of a begins at A, n 7", "b of b begins at B, n 3", "funclatency of funclatency begins at C, n 7",
		"a ends at A", "funclatency ends at C", "b ends at B"}
	if !slices.Equal(log, want) || !slices.Equal(gone, []string{"a", "funclatency", "b"}) {
		t.Errorf("got %q, gone %q, want %q", log, gone, want)
	}
}

func TestNamesOfInstancesThatAreRefused(t *testing.T) {
	fresh(t)
	var log []string
	registerCounter(&log)
	(&sample{}).register()
	Register(&Module{Name: "named", Params: Params{"name": String(new(string), "a file")}})
	Register(&Module{Name: "bomb", New: func(string) *Instance { panic("boom") }})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(Insmod("funclatency", "target=A", "name=reads"))
	must(Insmod("kprobe_example", "name=mine"))
	tests := []struct {
		name string
		do   func() error
		want error
		text string
	}{
		{"the same", func() error { return Insmod("funclatency", "target=B", "name=reads") }, syscall.EEXIST, "reads is already loaded; to load another, name it: name=NAME"},
		{"another module's", func() error { return Insmod("funclatency", "target=B", "name=mine") }, syscall.EEXIST, "mine is the name of a loaded kprobe_example; give another: name=NAME"},
		{"without New", func() error { return Insmod("kprobe_example") }, syscall.EEXIST, "already loaded as mine, and it can be loaded only once"},
		{"empty", func() error { return Insmod("funclatency", "name=") }, syscall.EINVAL, "parameter name=: a name has 1 to 55 letters, digits, _, - or ."},
		{"slash", func() error { return Insmod("funclatency", "name=a/b") }, syscall.EINVAL, "a name has"},
		{"folder", func() error { return Insmod("funclatency", "name=..") }, syscall.EINVAL, "a name has"},
		{"long", func() error { return Insmod("funclatency", "name="+strings.Repeat("x", 56)) }, syscall.EINVAL, "a name has"},
		{"parameter", func() error { return Insmod("funclatency", "name=x", "taget=A") }, syscall.EINVAL, "known: n, target"},
		{"init", func() error { return Insmod("funclatency", "name=x") }, syscall.EINVAL, "funclatency"},
		{"called name", func() error { return Insmod("named") }, syscall.EINVAL, "its parameter name must be renamed"},
		{"new", func() error { return Insmod("bomb") }, syscall.EFAULT, "boom"},
		{"misspelt", func() error { return Rmmod("raeds") }, syscall.ENOENT, "no such module (did you mean reads?)"},
		{"a module's", func() error { return Rmmod("funclatency") }, syscall.ENOENT, "not loaded under this name, but as reads"},
		{"gone", func() error { return Rmmod("zzz") }, syscall.ENOENT, "no such module"},
	}
	for _, tt := range tests {
		err := tt.do()
		if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%s: got %v, want %v with %q", tt.name, err, tt.want, tt.text)
		}
	}
	if l := Loaded(); len(l) != 2 || l[0].Name != "mine" || l[1].Name != "reads" || l[1].Params["target"].Value() != "A" {
		t.Errorf("loaded: %v", l)
	}
}

// triple is inlined into a function of another file.
func triple(x int) int { return x * 3 }
