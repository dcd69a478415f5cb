package module

import (
	"errors"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"sonde/kernel/printk"
)

func TestCurrentIsTheModuleWhoseCodeRuns(t *testing.T) {
	fresh(t)
	var log []string
	note := func() { log = append(log, Current()) }
	later := make(chan string)
	Register(&Module{Name: "inner", Init: func() error { note(); return nil }})
	Register(&Module{Name: "outer",
		Init: func() error {
			go func() { later <- Current() }()
			err := Insmod("inner")
			note()
			return err
		},
		Exit: note})
	Register(&Module{Name: "bomb", Init: func() error { panic("boom") }})
	if err := Insmod("outer"); err != nil {
		t.Fatal(err)
	}
	note()
	if got := <-later; got != "outer" {
		t.Errorf("a goroutine started by outer runs for %q", got)
	}
	if err := Rmmod("outer"); err != nil {
		t.Fatal(err)
	}
	if err := Insmod("bomb"); err == nil {
		t.Error("bomb loaded")
	}
	note()
	if want := []string{"inner", "outer", "", "outer", ""}; !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

func TestHooksAreToldOfEveryModuleThatGoes(t *testing.T) {
	fresh(t)
	var gone []string
	OnUnload(func(name string) []string {
		gone = append(gone, name)
		if find(name) == nil {
			t.Errorf("%s is off the list before it was swept", name)
		}
		return []string{"a thing of " + name}
	})
	Register(&Module{Name: "good", Exit: func() {}})
	Register(&Module{Name: "rude", Exit: func() { panic("boom") }})
	Register(&Module{Name: "bad", Init: func() error { return errors.New("no") }})
	Register(&Module{Name: "bomb", Init: func() error { panic("boom") }})
	for _, name := range []string{"good", "rude", "bad", "bomb"} {
		if Insmod(name) == nil {
			Rmmod(name)
		}
	}
	if want := []string{"good", "rude", "bad", "bomb"}; !slices.Equal(gone, want) {
		t.Errorf("got %q, want %q", gone, want)
	}
	var log strings.Builder
	for r := range printk.Records() {
		log.Write(append(r.Text(), '\n'))
	}
	if want := "module rude: forgot a thing of rude, which is unregistered\n"; strings.Count(log.String(), want) != 1 {
		t.Errorf("not once in the log: %s%s", want, log.String())
	}
}

func ours() {}

func TestFunctionsBelongToTheModuleOfTheirFile(t *testing.T) {
	fresh(t)
	pc, foreign := reflect.ValueOf(ours).Pointer(), reflect.ValueOf(Insmod).Pointer()
	Register(&Module{Name: "mine", Exit: func() {}})
	check := func(when, want string) {
		if got := Of(pc); got != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
		if got := Of(foreign) + Of(1); got != "" {
			t.Errorf("%s: others are of %q", when, got)
		}
	}
	check("before", "")
	Insmod("mine")
	check("loaded", "mine")
	Rmmod("mine")
	check("unloaded", "")
}

// mixed has code of a function in another file.
//
//go:noinline
func mixed(x int) int { return triple(x) }

// TestInlinedCodeBelongsToItsCaller: a probe may be anywhere in a function. Where code of another
// file is, the module used to be that file's.
func TestInlinedCodeBelongsToItsCaller(t *testing.T) {
	fresh(t)
	Register(&Module{Name: "mine", Exit: func() {}})
	Insmod("mine")
	entry, inlined := reflect.ValueOf(mixed).Pointer(), 0
	for pc := entry; runtime.FuncForPC(pc).Entry() == entry; pc++ {
		if got := Of(pc); got != "mine" {
			t.Fatalf("mixed+%d is of %q", pc-entry, got)
		}
		if !strings.HasSuffix(runtime.FuncForPC(pc).Name(), ".mixed") {
			inlined++
		}
	}
	if inlined == 0 {
		t.Error("nothing is inlined: this tests nothing")
	}
}

// TestModulesOfOnePackage: what is in a file that registers a module is that module's, whether it is
// loaded or not. The package's other module used to get it, and to take it along.
func TestModulesOfOnePackage(t *testing.T) {
	fresh(t)
	repeat, shared := reflect.ValueOf(strings.Repeat).Pointer(), reflect.ValueOf((*strings.Builder).Grow).Pointer()
	file, pkg := source(repeat)
	for name, file := range map[string]string{"first": file, "second": "second.go"} {
		Register(&Module{Name: name, Exit: func() {}})
		table.known[name].file, table.known[name].pkg = file, pkg // as if it were registered there
	}
	var during []string
	OnUnload(func(string) []string { during = append(during, Of(repeat)+" "+Of(shared)); return nil })
	for _, step := range []struct{ do, name, repeat, shared string }{
		{"insmod", "second", "", "second"},
		{"insmod", "first", "first", "second"},
		{"rmmod", "second", "first", "first"},
		{"insmod", "second", "first", "first"},
		{"rmmod", "first", "", "second"},
		{"rmmod", "second", "", ""},
	} {
		if step.do == "insmod" {
			Insmod(step.name)
		} else {
			Rmmod(step.name)
		}
		if a, b := Of(repeat), Of(shared); a != step.repeat || b != step.shared {
			t.Errorf("%s %s: %q and %q, want %q and %q", step.do, step.name, a, b, step.repeat, step.shared)
		}
	}
	if want := []string{"first first", "first second", " second"}; !slices.Equal(during, want) {
		t.Errorf("when modules go, the functions are of %q, want %q", during, want)
	}
}

func TestCodeStaysWhileAnInstanceDoes(t *testing.T) {
	fresh(t)
	pc := reflect.ValueOf(ours).Pointer()
	var during []string
	OnUnload(func(string) []string { during = append(during, Of(pc)); return nil })
	fail := false
	Register(&Module{Name: "mine", New: func(string) *Instance {
		return &Instance{Init: func() error {
			if fail {
				return errors.New("no")
			}
			return nil
		}, Exit: func() {}}
	}})
	Insmod("mine", "name=a")
	Insmod("mine", "name=b")
	Rmmod("a")
	fail = true
	Insmod("mine", "name=c")
	Rmmod("b")
	if want := []string{"b", "b", "b"}; !slices.Equal(during, want) || Of(pc) != "" {
		t.Errorf("when instances go, the code is of %q, want %q; at last of %q", during, want, Of(pc))
	}
}

func TestModulesFromOutsideOwnTheirPackage(t *testing.T) {
	fresh(t)
	pc := reflect.ValueOf(strings.Repeat).Pointer()
	Register(&Module{Name: "guest", Exit: func() {}})
	Insmod("guest")
	if got := Of(pc); got != "" {
		t.Errorf("a function of another package is of %q", got)
	}
	table.known["guest"].pkg = "strings" // as if it were registered there
	if got := Of(pc); got != "guest" {
		t.Errorf("a function of the module's package is of %q", got)
	}
}
