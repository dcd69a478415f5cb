package module

import (
	"errors"
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
		{"near", func() error { return Insmod("kprobe-exmaple.ko") }, syscall.ENOENT, "perhaps kprobe_example"},
		{"unknown parameter", func() error { return Insmod("kprobe_example", "sym=x") }, syscall.EINVAL, "known: addr, count, symbol, trace"},
		{"no parameters", func() error { return Insmod("stuck", "a=b") }, syscall.EINVAL, "has no parameters"},
		{"bad int", func() error { return Insmod("kprobe_example", "symbol=x", "count=many") }, syscall.EINVAL, "count=many: not a valid int"},
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
		"n=many":                "n=many: not a valid int",
		"n=":                    "n=: not a valid int",
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
