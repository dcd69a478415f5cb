// Package source knows what a script can be attached to: for each attach point of package lang, the
// places as package attach reads them, and where the arguments are.
//
//	kprobe:F kretprobe:F fentry:F fexit:F   F, ret:F; a function of the kernel or a pattern
//	uprobe:FILE:F uretprobe:FILE:F          FILE:F, ret:FILE:F; FILE may be a library, such as libc
//	uprobe:FILE@SOURCE:LINE                 FILE:F+OFFSET, where the code of that line begins
//	tracepoint:syscalls:sys_enter_X         sys:X; sys_exit_X is ret:sys:X
//	tracepoint:raw_syscalls:sys_enter       sys:*
//	tracepoint:sched:X                      event:sched:X, and of signal, irq, kmem, exceptions and go
//	rawtracepoint:X                         the tracepoint of that name, without fields
//	watchpoint:WHAT:LENGTH:MODE             MODE@WHAT:LENGTH
//	watchpoint:FILE:VARIABLE:LENGTH:MODE    MODE@FILE:VARIABLE:LENGTH
//	line:FILE.go:N inline:F                 FILE.go:N, inline:F
//	interval:s:N                            every:Ns
//	profile:hz:N                            tick:Nhz
//	software:page-faults:N                  the function of the kernel that serves them, each Nth call
//
// A function of the kernel may be given by its Go name, cut at any slash, by the name that C allows
// (vfs_File_ReadWait), or by the name of Linux's function that does the same (vfs_read).
package source

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"sonde/arch/amd64/goabi"
	"sonde/gotypes"
	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/probe/attach/places"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// Source is a lang.Resolver for a kernel.
type Source struct {
	Symbols *kallsyms.Table
	Programs
	// Types returns what a function of the kernel takes and gives. nil: nothing is known of types.
	Types func(addr uint64) (*gotypes.Table, gotypes.Call, error)
	Table func() (*gotypes.Table, error) // all types
	// Find returns the places of an inlined function. It and Table are nil if Types is.
	Find func(attach.Site) (places.Found, error)
	Dir  string // the caller's folder, for relative paths of programs
	PID  int    // probes in programs are in this process alone; 0: in all

	known       map[string]debugged // by the path of the program's file
	conventions map[string]func(attach.Site) goabi.Convention
}

// Programs is what is known of system calls, and of the files of programs. All are nil if the kernel runs no programs.
type Programs struct {
	Params func(call string) ([]event.Param, bool) // the parameters of a system call; false: there is no such call
	Calls  func(yield func(name string) bool)      // all that have parameters
	// Functions lists the functions of a file that fit a pattern, each once: all, or those that can have a probe.
	Functions func(file, pattern string, probed bool) []string
	// Probed says why a place in a file cannot have a probe.
	Probed func(file, symbol string, offset uint64) error
	// Symbol finds a function or a variable of a file: its address there, and its size, 0 if that is not known.
	Symbol func(file, name string) (addr, size uint64, err error)
	// Debug returns the sections of a file that compilers describe it in.
	Debug func(file string) (map[string][]byte, error)
	// Conventions tells of places in a file where the functions there find their arguments.
	Conventions func(file string) func(attach.Site) goabi.Convention
	// Goid returns where a goroutine of a file has its number; 0: it has none.
	Goid func(file string) int
}

// Places returns where a point is. The point has a Target.
func (s *Source) Places(p *lang.Point) ([]attach.Site, error) {
	text := ""
	var err error
	switch o := p.Options; p.Provider {
	case "kprobe", "fentry", "kretprobe", "fexit":
		return s.kernelPlace(p)
	case "uprobe", "uretprobe":
		return s.userPlaces(p)
	case "line":
		text = o[0] + ":" + o[1]
	case "inline":
		text = "inline:" + o[0]
	case "tracepoint":
		if len(o) > 2 || o[0] == "syscalls" || o[0] == "raw_syscalls" {
			return s.calls(p)
		}
		return s.events(p)
	case "rawtracepoint":
		t, err := cooked(p)
		if err != nil {
			return nil, err
		}
		return s.Places(t)
	case "watchpoint":
		return s.watch(p)
	case "interval", "profile":
		text, err = timer(p)
	case "software":
		site, _, err := software(o)
		return []attach.Site{site}, err
	case "self":
		err = errors.New("self is not there: bt runs in the kernel, and is no process that gets signals")
	default:
		err = fmt.Errorf("%s is not supported", p.Provider)
	}
	if err != nil {
		return nil, err
	}
	return attach.ParseSites(text)
}

// kernelPlace is a function of the kernel, an instruction in it, or a pattern.
func (s *Source) kernelPlace(p *lang.Point) ([]attach.Site, error) {
	name, err := s.function(p.Options[0])
	if err != nil {
		return nil, err
	}
	site, err := attach.Site{Return: p.Provider == "kretprobe" || p.Provider == "fexit"}.At(name)
	return []attach.Site{site}, err
}

// function returns the Go name of a function of the kernel, or a pattern, as it was given.
func (s *Source) function(text string) (string, error) {
	name, offset, _ := strings.Cut(text, "+")
	if isPattern(name) {
		if len(s.Symbols.Functions(name)) == 0 {
			return "", &lang.Hinted{Why: "no function fits " + name, Missing: true}
		}
		return text, nil
	}
	if offset != "" {
		offset = "+" + offset
	}
	if strings.HasPrefix(name, "0x") {
		return text, nil
	}
	sym, err := s.Symbols.Resolve(name)
	switch {
	case errors.Is(err, kallsyms.ErrAmbiguous):
		return "", err
	case err == nil && !strings.ContainsAny(name, "./("): // an alias
		return sym.Name + offset, nil
	case err == nil:
		return text, nil
	}
	if file, _, ok := strings.Cut(name, ":"); ok && strings.HasSuffix(file, ".go") {
		return "", &lang.Hinted{Why: "there is no function " + name + " in the kernel", Hint: "a line of source is line:" + name, Missing: true}
	}
	near := s.Symbols.Near(name)
	for i := range near {
		near[i] = kallsyms.Base(near[i])
	}
	return "", missing("there is no function "+name+" in the kernel", near)
}

// timer is interval:UNIT:N or profile:UNIT:N; the unit may stand after the number, as in interval:5s.
func timer(p *lang.Point) (string, error) {
	text := p.Options[0]
	if len(p.Options) == 2 {
		text = p.Options[1] + p.Options[0]
	}
	var period time.Duration
	if n, ok := strings.CutSuffix(text, "hz"); ok {
		hz, err := strconv.ParseUint(n, 10, 31)
		if err != nil || hz == 0 {
			return "", fmt.Errorf("%q is not a frequency: give a number of times in a second, from 1", n)
		}
		period = time.Second / time.Duration(hz)
		if p.Provider == "profile" {
			return fmt.Sprintf("tick:%dhz", hz), nil
		}
	} else if d, err := time.ParseDuration(text); err != nil || d <= 0 {
		return "", fmt.Errorf("%q is not a time: give hz, s, ms or us, and a number from 1", strings.Join(p.Options, ":"))
	} else {
		period = d
	}
	if p.Provider == "profile" {
		return fmt.Sprintf("tick:%dhz", max(1, time.Second/period)), nil
	}
	return "every:" + period.String(), nil
}
