package source

import (
	"slices"
	"strings"

	"sonde/kallsyms"
	"sonde/kernel/attach"
	"sonde/kernel/tracepoint"
	"sonde/trace/lang"
)

// Where registers are in Linux's struct pt_regs, in bytes.
const (
	r15 = 0
	r14 = 8
	r13 = 16
	r12 = 24
	bp  = 32
	sp  = 152
	r10 = 56
	r9  = 64
	r8  = 72
	r11 = 48
	bx  = 40
	ax  = 80
	cx  = 88
	dx  = 96
	si  = 104
	di  = 112
)

// The registers of arguments.
//
// Source: Go's ABIInternal; System V ABI, AMD64 supplement; Linux, syscall(2).
var (
	goArgs   = []int{ax, bx, cx, di, si, r8, r9, r10, r11}
	cArgs    = []int{di, si, dx, cx, r8, r9}
	callArgs = []int{di, si, dx, r10, r8, r9}
)

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
	site, err := attach.ParseSite(places[0])
	if err != nil {
		return nil, err
	}
	t := &lang.Target{}
	switch site.Kind {
	case attach.Kernel, attach.Line, attach.Inline:
		linux, _ := kallsyms.Linux(p.Options[0])
		t.Args, t.Pattern = goArgs[linux.Skip:], site.Pattern() || site.Kind == attach.Inline
	case attach.Program:
		t.Args, t.User = cArgs, true
		if !site.Pattern() && site.Offset == 0 && site.Addr == 0 {
			t.Func = site.Symbol
		}
		if isGo(site.Symbol) {
			t.Args = goArgs
		} else {
			s.describeProgram(t, p, site)
		}
	case attach.Watch:
		t.Watch = true
	case attach.Event:
		t.Record, t.Pattern = true, len(places) > 1
		if t.Pattern {
			t.Name, t.NameAt = eventName, tracepoint.IDWord
		} else {
			t.Fields = recordFields(site.Symbol)
		}
		return t, nil
	case attach.Call:
		t.Args, t.User = callArgs, true
		t.Fields = s.fields(site)
	}
	s.describe(t, site)
	s.describeCopies(t, site)
	if p.Provider == "software" { // where it happens is not what is meant
		t.Args, t.Fields, t.Fill = nil, nil, nil
		_, t.Every, _ = software(p.Options)
	}
	if site.Return {
		t.Args, t.Result = nil, &lang.ArgField{Name: "retval", Type: number, Offset: ax}
	}
	return t, nil
}

// mostExpanded is for how many functions of a program a pattern becomes points of their own, which know the
// function's name.
const mostExpanded = 64

// Expand is part of lang.Expander.
func (s *Source) Expand(p *lang.Point) (all []*lang.Point) {
	if p.Provider != "uprobe" && p.Provider != "uretprobe" || s.Functions == nil || !(attach.Site{Symbol: p.Options[1]}).Pattern() {
		return nil
	}
	for _, name := range s.functionsOf(p.Options[0], p.Options[1]) {
		one := *p
		one.Loose = true
		one.Options = []string{p.Options[0], name}
		one.Text = p.Provider + ":" + strings.Join(one.Options, ":")
		all = append(all, &one)
	}
	if len(all) > mostExpanded {
		return nil
	}
	return all
}

// UserAddress is part of lang.UserAddresser.
func (s *Source) UserAddress(p *lang.Point, name string) (from uint64, bytes int, err error) {
	path := programPath(p.Options[0])
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

// functionsOf returns the functions of a program's file that fit a pattern.
func (s *Source) functionsOf(path, pattern string) (all []string) {
	for _, name := range s.Functions(programPath(path)) {
		if kallsyms.Fits(pattern, name) && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// isGo tells whether a function of a program has Go's registers, by its name: C has no dots but before
// what a compiler appends.
func isGo(name string) bool {
	before, after, dot := strings.Cut(name, ".")
	for _, made := range []string{"isra", "part", "constprop", "cold", "lto_priv"} {
		if after == made || strings.HasPrefix(after, made+".") {
			return false
		}
	}
	return dot && before != "" && after != ""
}

// names are those of Linux's tracepoints, where they differ from those in its manual.
var names = map[string]string{"pathname": "filename", "dirfd": "dfd", "oldpath": "oldname", "newpath": "newname", "olddirfd": "olddfd", "newdirfd": "newdfd"}

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
		if name == "argv" || name == "envp" {
			f.Type = lang.Type{Kind: lang.Pointer, Bytes: 8, Elem: &address}
		}
		all = append(all, f)
		if other := names[name]; other != "" {
			f.Name = other
			all = append(all, f)
		}
	}
	return all
}
