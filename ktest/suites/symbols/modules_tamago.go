//go:build tamago

package symbols

import (
	"errors"
	"os"
	"strings"
	"syscall"

	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

func init() {
	suites.Add("symbols/every_module_leaves_without_a_trace", modulesLeave)
	suites.Add("symbols/module_states_and_errors", moduleErrors)
}

// quiet are parameters that keep a module from printing at every call.
var quiet = []string{"symbol=sonde/ktest/suites/targets.Leaf"}

// insmod loads a module with the parameters that it knows, in a program's file, in the
// kernel, or none.
//
// Errors: ESRCH it wants a process that runs.
func insmod(name string) (err error) {
	for _, params := range [][]string{{"path=/bin/myprog", "symbol=myfunc"}, quiet, {"target=vfs.Read"}, nil} {
		err = module.Insmod(name, params...)
		if !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) && !errors.Is(err, syscall.ESRCH) {
			break
		}
	}
	return err
}

// modulesLeave loads and unloads each module, several times: text and slots are
// as before.
func modulesLeave(t *suites.T) {
	t.OneProcessor()
	n := 0
	for _, m := range module.Available() {
		s, err := module.Lookup(m.Name)
		t.Must(err)
		if s.Exit == nil {
			continue
		}
		n++
		for range 3 {
			err := insmod(m.Name)
			if errors.Is(err, syscall.ESRCH) {
				t.Logf("%s wants a process: not loaded here", m.Name)
				break
			}
			if err != nil {
				t.Errorf("insmod: %v", err)
				break
			}
			if err := module.Rmmod(m.Name); err != nil {
				t.Errorf("rmmod: %v", err)
			}
		}
		if bytes, slots := suites.TextChanged(), kprobes.Slots().Used(); bytes != 0 || slots != 0 {
			t.Errorf("%s leaves %d changed bytes of text and %d slots", m.Name, bytes, slots)
		}
	}
	t.Logf("%d modules", n)
	if n == 0 {
		t.Errorf("there are no modules")
	}
}

func moduleErrors(t *suites.T) {
	const name = "kprobe_example"
	want := func(what string, err error, errno syscall.Errno, says string) {
		if !errors.Is(err, errno) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %v and %q", what, err, errno, says)
		}
	}
	want("misspelt", module.Insmod("kprobe_exmaple"), syscall.ENOENT, name)
	want("parameter", module.Insmod(name, "nosuch=1"), syscall.EINVAL, "nosuch")
	want("symbol", module.Insmod(name, "symbol=no.such.symbol"), syscall.ENOENT, "no.such.symbol")
	want("not loaded", module.Rmmod(name), syscall.ENOENT, name)
	t.Must(module.Insmod(name, quiet...))
	want("twice", module.Insmod(name), syscall.EEXIST, name)
	if text := readFile(t, "/proc/modules"); !strings.Contains(text, name+" ") || !strings.Contains(text, "Live") {
		t.Errorf("/proc/modules says %q", text)
	}
	t.Must(module.Rmmod(name))
	if text := readFile(t, "/proc/modules"); strings.Contains(text, name) {
		t.Errorf("/proc/modules says %q", text)
	}
}

func readFile(t *suites.T, path string) string {
	f, err := vfs.Root.OpenFile(path, os.O_RDONLY)
	t.Must(err)
	defer f.Close()
	buf := make([]byte, 64<<10)
	n := 0
	for {
		m, err := f.Read(buf[n:])
		n += m
		if err != nil || m == 0 {
			return string(buf[:n])
		}
	}
}
