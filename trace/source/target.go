package source

import (
	"strings"

	"sonde/arch/amd64/goabi"
	"sonde/kallsyms"
	"sonde/probe/attach"
	"sonde/probe/event"
	"sonde/trace/lang"
)

// Where struct pt_regs has the registers of arguments, in bytes.
var (
	goArgs   = goabi.Go.PtRegs()
	cArgs    = goabi.SystemV.PtRegs()
	callArgs = goabi.SystemCall.PtRegs()
)

// stackArgs are as many as programs read of those on the stack, by sarg0 and so on, too.
var stackArgs = make([]int, 64)

var (
	number  = lang.Type{Kind: lang.Int, Bytes: 8, Signed: true}
	address = lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &lang.Type{Kind: lang.Int, Bytes: 1}}
)

// Target is part of lang.Resolver.
func (s *Source) Target(p *lang.Point) (*lang.Target, error) {
	t, err := s.target(p)
	if err == nil && p.Provider == "rawtracepoint" { // Linux has other arguments there
		t.Args, t.Fields, t.Result = nil, nil, nil
	}
	return t, err
}

func (s *Source) target(p *lang.Point) (*lang.Target, error) {
	places, err := s.Places(p)
	if err != nil {
		return nil, err
	}
	site := places[0]
	t := &lang.Target{Names: placeNames(places)}
	switch site.Kind {
	case attach.Kernel, attach.Line, attach.Inline:
		linux, _ := kallsyms.Linux(p.Options[0])
		t.Args, t.Pattern = goArgs[linux.Skip:], site.Pattern() || site.Kind == attach.Inline
		if s.isAssembly(site) {
			arguments(t, goabi.Stack, site.Return)
		}
	case attach.Program:
		t.User = true
		if !site.Pattern() && site.Offset == 0 && site.Addr == 0 {
			t.Func = site.Symbol
		}
		if s.convention(t, site) == goabi.C {
			s.describeProgram(t, p, site)
		}
		if s.Goid != nil && site.File != "" {
			t.Goid = s.Goid(programPath(site.File))
		}
	case attach.Watch:
		t.Watch, t.User = true, site.File != ""
	case attach.Event:
		t.Record = true
		if t.Names == nil {
			t.Fields, t.ID = recordFields(site.Symbol)
		}
		return t, nil
	case attach.Call:
		t.Args, t.User = callArgs, true
		if t.Names == nil || site.Return {
			t.Fields = s.fields(site)
		}
		if t.Names == nil {
			t.ID, _ = event.Named(callName(site))
		}
	}
	s.describe(t, site)
	s.describeCopies(t, site)
	if p.Provider == "software" { // where it happens is not what is meant
		t.Args, t.Fields, t.Fill = nil, nil, nil
		_, t.Every, _ = software(p.Options)
	}
	if site.Return {
		t.Args, t.Result = nil, &lang.ArgField{Name: "retval", Type: number, Offset: goabi.PtRegsAX}
	}
	return t, nil
}

// isAssembly reports whether a place is a function of the kernel in assembly, as its name says.
func (s *Source) isAssembly(site attach.Site) bool {
	if site.Kind != attach.Kernel || site.Pattern() || site.Symbol == "" {
		return false
	}
	sym, err := s.Symbols.Resolve(site.Symbol)
	return err == nil && strings.HasSuffix(sym.Name, ".abi0")
}

// placeNames are the names of several places, as attach points have them after the provider.
func placeNames(places []attach.Site) (all []string) {
	for _, site := range places {
		switch site.Kind {
		case attach.Event:
			all = append(all, site.Symbol)
		case attach.Call:
			all = append(all, callName(site))
		default:
			all = append(all, site.File+":"+site.Symbol)
		}
	}
	if len(all) < 2 {
		return nil
	}
	return all
}

// UserAddress is part of lang.UserAddresser.
func (s *Source) UserAddress(p *lang.Point, name string) (from uint64, bytes int, err error) {
	path := programPath(s.path(p.Options[0]))
	at, _, err := s.Symbol(path, p.Options[1])
	if err != nil {
		return 0, 0, err
	}
	addr, size, err := s.Symbol(path, name)
	return addr - at, int(size), err
}

// programPath is where the file of a program or a library is.
func programPath(name string) string {
	if path := file(name); strings.Contains(path, "/") {
		return path
	}
	return "/bin/" + name
}
