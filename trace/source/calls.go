package source

import (
	"errors"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/attach"
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
func (s *Source) calls(p *lang.Point, process string) (places []string, err error) {
	if s.Params == nil {
		return nil, errors.New("this kernel runs no programs, and has no system calls")
	}
	for _, point := range s.callsOf(p) {
		places = append(places, process+callPlace(point))
	}
	if places == nil {
		err = s.noCall(p)
	}
	return places, err
}

// callPlace is the place of a tracepoint, as package attach reads it.
func callPlace(point string) string {
	_, name, _ := strings.Cut(point, ":sys_")
	way, call, each := strings.Cut(name, "_")
	if !each {
		call = "*"
	}
	if way == "exit" {
		return "ret:sys:" + call
	}
	return "sys:" + call
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
	h := hinted("there is no system call "+call, call, names).(*lang.Hinted)
	h.Missing = true
	return h
}

// timespec is what the pointer of a call that waits leads to.
var timespec = &lang.Struct{Name: "__kernel_timespec", Bytes: 16, Fields: []lang.StructField{
	{Name: "tv_sec", Type: number}, {Name: "tv_nsec", Offset: 8, Type: number}}}

// fields are the arguments of a system call, by both names.
func (s *Source) fields(site attach.Site) (all []lang.ArgField) {
	if site.Return {
		return []lang.ArgField{{Name: "ret", Type: number, Offset: ax}}
	}
	params, _ := s.Params(site.Symbol)
	if site.Symbol == "*" {
		all = append(all, lang.ArgField{Name: "id", Type: number, Offset: ax},
			lang.ArgField{Name: "name", Type: lang.Type{Kind: lang.Symbol, Bytes: 8, Format: lang.CallName}, Offset: ax}) // ours
	}
	for i, name := range params {
		if i == len(callArgs) {
			break
		}
		f := lang.ArgField{Name: name, Type: number, Offset: callArgs[i]}
		if strings.HasSuffix(name, "path") || strings.HasSuffix(name, "name") || name == "buf" {
			f.Type = address
		}
		traced := s.Traced(site.Symbol, name)
		switch traced {
		case "argv", "envp":
			f.Type = lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &address}
		case "rqtp", "rmtp":
			f.Type = lang.Type{Kind: lang.Pointer, Bytes: 8, To: timespec, User: true}
		}
		all = append(all, f)
		if f.Name = traced; traced != name {
			all = append(all, f)
		}
	}
	return all
}
