package source

import (
	"errors"
	"fmt"
	"strings"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/trace/lang"
)

// callPoints calls yield for each tracepoint of system calls: of all calls, and of each.
func (s *Source) callPoints(yield func(name string) bool) {
	if s.Calls == nil || !yield("raw_syscalls:sys_enter") || !yield("raw_syscalls:sys_exit") {
		return
	}
	for name := range s.Calls {
		if !yield("syscalls:sys_enter_"+name) || !yield("syscalls:sys_exit_"+name) {
			return
		}
	}
}

// callsOf returns those tracepoints that a point stands for. Its third option, if it has one, is what their names
// begin with.
func (s *Source) callsOf(p *lang.Point) (all []string) {
	name := strings.Join(p.Options[:2], ":")
	for point := range s.callPoints {
		if kallsyms.Fits(name, point) && (len(p.Options) < 3 || strings.Contains(point, ":"+p.Options[2])) {
			all = append(all, point)
		}
	}
	return all
}

// calls returns the places of tracepoints of system calls.
func (s *Source) calls(p *lang.Point) (places []attach.Site, err error) {
	if s.Params == nil {
		return nil, errors.New("this kernel runs no programs, and has no system calls")
	}
	for _, point := range s.callsOf(p) {
		places = append(places, s.callPlace(point))
	}
	if places == nil {
		err = s.noCall(p)
	}
	return places, err
}

// callPlace is the place of a tracepoint.
func (s *Source) callPlace(point string) attach.Site {
	_, name, _ := strings.Cut(point, ":sys_")
	way, call, each := strings.Cut(name, "_")
	if !each {
		call = "*"
	}
	return attach.Site{Kind: attach.Call, PID: s.PID, Symbol: call, Return: way == "exit"}
}

// callName is the name of a place of callPlace as a tracepoint.
func callName(site attach.Site) string {
	way := "sys_enter"
	if site.Return {
		way = "sys_exit"
	}
	if site.Symbol == "*" {
		return "raw_syscalls:" + way
	}
	return "syscalls:" + way + "_" + site.Symbol
}

// noCall says that there is no such tracepoint of system calls.
func (s *Source) noCall(p *lang.Point) error {
	name := p.Options[1]
	call, ok := strings.CutPrefix(name, "sys_enter_")
	if !ok {
		call, ok = strings.CutPrefix(name, "sys_exit_")
	}
	if !ok || p.Options[0] != "syscalls" {
		return &lang.Hinted{Why: "there is no tracepoint " + name + ": give sys_enter_CALL or sys_exit_CALL of syscalls, or sys_enter or sys_exit of raw_syscalls", Missing: true}
	}
	var names []string
	for name := range s.Calls {
		names = append(names, name)
	}
	return missing("there is no system call "+call, kallsyms.Nearest(call, names))
}

// timespec is what the pointer of a call that waits leads to.
var timespec = &lang.Struct{Name: "__kernel_timespec", Bytes: 16, Fields: []lang.StructField{
	{Name: "tv_sec", Type: number}, {Name: "tv_nsec", Offset: 8, Type: number}}}

// fields are the arguments of a system call, by all their names.
func (s *Source) fields(site attach.Site) (all []lang.ArgField) {
	nr := lang.ArgField{Name: "__syscall_nr", Type: number, Text: "int", Offset: goabi.PtRegsAX, Place: site.Return}
	if site.Symbol == "*" {
		nr.Name, nr.Text = "id", "long"
		name := nr // ours
		name.Name, name.Text, name.Type = "name", "", lang.Type{Kind: lang.Symbol, Bytes: 8, Format: lang.CallName}
		all = append(all, nr, name)
	} else {
		all = append(all, nr)
	}
	if site.Return {
		return append(all, lang.ArgField{Name: "ret", Type: number, Text: "long", Offset: goabi.PtRegsAX})
	}
	if site.Symbol == "*" {
		word := integer(8, false)
		all = append(all, lang.ArgField{Name: "args", Type: lang.Type{Kind: lang.ArrayOf, Elem: &word, Bytes: 8 * len(callArgs)}, Text: "unsigned long[6]"})
		for i, at := range callArgs {
			all = append(all, lang.ArgField{Name: fmt.Sprintf("args[%d]", i), Type: word, Offset: at, Alias: true})
		}
		return all
	}
	params, _ := s.Params(site.Symbol)
	for i, p := range params {
		f := lang.ArgField{Name: p.Name, Type: declared(p.Type), Text: p.Type, Offset: callArgs[i]}
		all = append(all, f)
		f.Alias = true
		for _, f.Name = range p.Also {
			all = append(all, f)
		}
	}
	return all
}

// narrow are types that are less than a register: how many bytes, and whether they have a sign.
var narrow = map[string]lang.Type{"umode_t": integer(2, false), "uid_t": integer(4, false), "gid_t": integer(4, false), "u32": integer(4, false),
	"pid_t": integer(4, true), "clockid_t": integer(4, true), "timer_t": integer(4, true), "rwf_t": integer(4, true)}

func integer(bytes int, signed bool) lang.Type {
	return lang.Type{Kind: lang.Int, Bytes: bytes, Signed: signed}
}

// declared is a type of C's as the language has it. int and unsigned int are whole registers, since the formats of
// tracepoints say so; that is how bpftrace reads them, too.
func declared(text string) lang.Type {
	text = strings.TrimPrefix(text, "const ")
	of, pointer := strings.CutSuffix(text, " *")
	name, isStruct := strings.CutPrefix(of, "struct ")
	switch {
	case !pointer && narrow[text].Bytes != 0:
		return narrow[text]
	case !pointer:
		return integer(8, !strings.HasPrefix(text, "unsigned") && text != "size_t")
	case of == "char" || of == "void":
		return address
	case of == "const char *const" || of == "char *const":
		return lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &address}
	case name == timespec.Name:
		return lang.Type{Kind: lang.Pointer, Bytes: 8, To: timespec, User: true}
	case isStruct && !strings.Contains(name, "*"):
		return lang.Type{Kind: lang.Pointer, Bytes: 8, To: &lang.Struct{Name: name}, User: true}
	}
	return number
}
