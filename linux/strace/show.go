package strace

import (
	"cmp"
	"fmt"
	"strings"
	sys "syscall"

	"sonde/kernel/abi"
	"sonde/linux/proc"
	"sonde/linux/syscall"
)

// Shown is a system call in strace's format, with the parameter names of its line in the table.
type Shown struct {
	Call   syscall.Call
	t      *proc.Thread
	a      syscall.Args
	shown  int // number of parameters shown so far
	comma  int // parameters before which a comma has been printed
	result int64
	failed bool
	paths  bool // descriptors are shown with what they are of
}

// Show starts to show the call that t has entered. The text ends before the first argument that
// only the call fills in. With paths, descriptors are shown with the files that they are of.
//
// Context: t's goroutine, before the call.
func Show(t *proc.Thread, paths bool) (s *Shown, text string) {
	r := t.Regs()
	s = &Shown{t: t, paths: paths, a: syscall.Args{r.DI, r.SI, r.DX, r.R10, r.R8, r.R9}}
	n := t.Call()
	c, ok := syscall.Lookup(n)
	if !ok {
		c = syscall.Call{Name: cmp.Or(syscall.Name(n), fmt.Sprintf("syscall_%#x", n)), Params: "a, b, c, d, e, f"}
	}
	s.Call = c
	return s, c.Name + "(" + s.more(false)
}

// Arguments shows the remaining arguments after the call, and the closing parenthesis.
//
// Context: t's goroutine, after the call.
func (s *Shown) Arguments() string {
	s.result = int64(s.t.Regs().AX)
	s.failed = s.result < 0 && s.result > -4096
	return s.more(true) + ")"
}

// Result shows what the call returned; Failed reports whether that is an error.
func (s *Shown) Result() string {
	switch {
	case s.failed && s.t.ToBeRestarted() == proc.RestartSys:
		return "? ERESTARTSYS (To be restarted if SA_RESTART is set)"
	case s.failed && s.t.ToBeRestarted() == proc.RestartQuiet:
		return "? ERESTARTNOHAND (To be restarted if no handler)"
	case s.failed:
		name, text := abi.ErrnoText(sys.Errno(-s.result))
		return fmt.Sprintf("-1 %s (%s)", name, text)
	}
	switch s.Call.Name {
	case "mmap", "mremap", "brk":
		return fmt.Sprintf("%#x", uint64(s.result))
	case "umask":
		return octal(uint64(s.result))
	}
	if returnsFile[s.Call.Name] || s.Call.Name == "fcntl" && (s.a[1] == abi.F_DUPFD || s.a[1] == abi.F_DUPFD_CLOEXEC) {
		return descriptor(s, uint64(s.result))
	}
	return fmt.Sprint(s.result)
}

func (s *Shown) Failed() bool { return s.failed }

// more shows parameters: before the call, those up to the first that the call fills in.
func (s *Shown) more(after bool) string {
	switch s.Call.Name {
	case "clone":
		return s.cloneText(after)
	case "clone3":
		return s.cloneArgs(after)
	}
	var b strings.Builder
	params := s.Call.Names()
	for ; s.shown < len(params); s.shown++ {
		p := params[s.shown]
		way, ok := wayOf(s.Call.Name, p)
		if !ok {
			way = kind{show: func(_ *Shown, v uint64) string { return fmt.Sprintf("%#x", v) }}
		}
		if way.unless != nil && way.unless(s) {
			s.shown = len(params)
			break
		}
		if s.shown > s.comma {
			b.WriteString(", ")
			s.comma = s.shown
		}
		if way.out && !after {
			break
		}
		v := s.a[s.shown]
		if way.out && s.failed {
			b.WriteString(pointer(s, v))
			continue
		}
		b.WriteString(way.show(s, v))
	}
	return b.String()
}

// wayOf returns how a parameter is shown: by its name, or by call and name.
func wayOf(call, param string) (k kind, ok bool) {
	if k, ok = kinds()[call+"."+param]; ok {
		return k, ok
	}
	k, ok = kinds()[param]
	return k, ok
}

// kind is how a parameter is shown. The call fills in one that is out; if unless returns true, this
// parameter and those after it are not shown.
type kind struct {
	show   func(s *Shown, v uint64) string
	out    bool
	unless func(s *Shown) bool
}
