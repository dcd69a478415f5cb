//go:build tamago

package hostile

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/module"
	"sonde/kernel/vfs"
	"sonde/ktest/suites"
	"sonde/sysctl"
)

// controlFile writes to a file that the kernel makes.
func (s *scene) controlFile() (a attempt) {
	name, value := s.files[s.IntN(len(s.files))], s.value()
	if s.in(2) { // those that can be written are few
		name = pick(s.source, "/sys/kernel/debug/kprobes/enabled", "/sys/kernel/debug/uprobes/enabled", "/proc/sys/"+strings.ReplaceAll(s.sysctlName(), ".", "/"))
	}
	a.what = fmt.Sprintf("write %.60q to %.60q", value, name)
	f, err := vfs.Open(name, pick(s.source, os.O_WRONLY, os.O_RDWR, os.O_WRONLY|os.O_TRUNC, os.O_WRONLY|os.O_APPEND))
	if err == nil {
		_, err = vfs.Write(f, []byte(value), nil)
		if cerr := vfs.Close(f); cerr != nil {
			s.t.Errorf("%s: close: %v", a.what, cerr)
		}
	}
	a.err = err
	return a
}

// sysctl sets a sysctl. stage.restore sets it back.
func (s *scene) sysctl() attempt {
	name, value := s.sysctlName(), s.value()
	return attempt{what: fmt.Sprintf("sysctl %.60q = %.60q", name, value), err: sysctl.Set(name, value)}
}

// cold is a function that nothing calls: modules print whenever theirs is.
//
//go:noinline
func cold(n int) int { return n*len(coldWord) + 1 }

var coldWord = "cold"

func init() { coldWord += strings.Repeat("!", cold(0)) }

// parameter is what a module could be given.
func (s *scene) parameter(m *module.Module) string {
	if s.in(4) {
		return s.value() + pick(s.source, "", "=", "==") + s.value()
	}
	var names []string
	for name := range m.Parameters() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "x=" + s.value()
	}
	slices.Sort(names) // for the seed: maps have no order
	value := s.value()
	switch s.IntN(4) {
	case 0:
		value = "sonde/ktest/suites/hostile.cold"
	case 1:
		value = "sonde/ktest/suites/hostile.coldWord"
	case 2:
		value = fmt.Sprint(s.pid())
	}
	if slices.Contains(s.stage.names, value) { // it may be called all the time
		value += "?"
	}
	return names[s.IntN(len(names))] + "=" + value
}

// insmod loads a module with parameters.
func (s *scene) insmod() (a attempt) {
	m := s.modules[s.IntN(len(s.modules))]
	name := m.Name
	if s.in(6) {
		name = s.name()
	}
	var params []string
	for range s.IntN(4) {
		params = append(params, s.parameter(m))
	}
	a.what = fmt.Sprintf("insmod %.60q %.200q", name, params)
	a.err = module.Insmod(name, params...)
	a.undo = func() { s.rmmod(name) }
	return a
}

// rmmod unloads a module that another goroutine may unload at the same time.
func (s *scene) rmmod(name string) {
	if err := module.Rmmod(name); err != nil {
		if why := unsound(err, []syscall.Errno{syscall.ENOENT, syscall.EBUSY}); why != "" {
			s.t.Errorf("rmmod %q: %v: %s", name, err, why)
		}
	}
}

// errLine is what a command printed when it failed. Which errno it had is the shell's affair.
type errLine struct{ printed string }

func (e errLine) Error() string { return "the command printed " + e.printed }
func (e errLine) Unwrap() error { return syscall.EINVAL }

// command gives a command of the shell arguments.
func (s *scene) command() (a attempt) {
	quote := func(text string) string {
		return "'" + strings.Map(func(r rune) rune {
			if r == '\'' || r == 0 {
				return '_'
			}
			return r
		}, text) + "'"
	}
	var line string
	switch s.IntN(6) {
	case 0:
		line = "explain " + quote(s.name()+pick(s.source, "", "+"+s.value()))
	case 1:
		line = "explain " + quote(s.file()+":"+pick(s.source, s.name(), s.value()))
	case 2:
		line = fmt.Sprintf("explain -p %d %s", s.pid(), quote(pick(s.source, s.value(), fmt.Sprintf("%x", s.userAddr()))))
	case 3:
		line = fmt.Sprintf("kwatch %s %s true", pick(s.source, "", "-n 1", "-n "+quote(s.value())),
			quote(pick(s.source, "w", "rw", "x", "r", s.value())+"@"+pick(s.source, s.name(), s.value(), fmt.Sprintf("%#x:%d", s.addr(), s.length()))))
	case 4:
		line = "sysctl " + pick(s.source, "", "-w ") + quote(s.sysctlName()+"="+s.value())
	default:
		line = pick(s.source, "modinfo ", "rmmod ", "sysctl ") + quote(s.name())
	}
	var out bytes.Buffer
	status := suites.Script(&out, line)
	a.what = fmt.Sprintf("%.200q", line)
	printed := out.String()
	if strings.Contains(printed, "panicked") {
		s.t.Errorf("%s: %s", a.what, printed)
	}
	if status != 0 {
		a.err = errLine{printed}
		if strings.TrimSpace(printed) == "" {
			s.t.Errorf("%s: status %d without a word", a.what, status)
		}
	}
	return a
}
