package lang

import (
	"fmt"
	"slices"

	"sonde/kernel/abi"
)

// function is what is known of a function of the language.
type function struct {
	least, most int // arguments
	check       func(c *checker, e *Expr) Type
}

var functions map[string]function

func init() {
	functions = map[string]function{
		"printf": {1, 64, (*checker).printf}, "errorf": {1, 64, (*checker).printf}, "warnf": {1, 64, (*checker).printf},
		"system": {1, 64, (*checker).printf}, "cat": {1, 64, (*checker).printf},
		"print": {1, 3, (*checker).print}, "clear": {1, 1, (*checker).whole}, "zero": {1, 1, (*checker).whole},
		"percentiles": {1, 1, (*checker).percentiles},
		"delete":      {1, 2, (*checker).remove}, "has_key": {2, 2, (*checker).hasKey}, "len": {1, 1, (*checker).length},
		"exit": {0, 1, (*checker).exit}, "assert": {2, 2, (*checker).assert}, "fail": {1, 64, (*checker).failNow},
		"str": {1, 2, (*checker).str}, "kstr": {1, 2, (*checker).str}, "ustr": {1, 2, (*checker).str}, "buf": {1, 2, (*checker).buf},
		"kptr": {1, 1, (*checker).space}, "uptr": {1, 1, (*checker).space}, "join": {1, 2, (*checker).join},
		"count": {0, 0, (*checker).aggregate}, "sum": {1, 1, (*checker).aggregate}, "min": {1, 1, (*checker).aggregate}, "max": {1, 1, (*checker).aggregate},
		"avg": {1, 1, (*checker).aggregate}, "stats": {1, 1, (*checker).aggregate},
		"hist": {1, 2, (*checker).hist}, "lhist": {4, 4, (*checker).lhist}, "tseries": {3, 4, (*checker).tseries},
		"ksym": {1, 1, (*checker).symbol}, "usym": {1, 1, (*checker).symbol}, "kvar": {2, 2, (*checker).variable}, "umap": {1, 1, (*checker).variable}, "kaddr": {1, 1, (*checker).kaddr}, "reg": {1, 1, (*checker).reg},
		"kstack": {0, 2, (*checker).stackType}, "ustack": {0, 2, (*checker).stackType},
		"time": {0, 1, (*checker).time}, "strftime": {2, 2, (*checker).strftime}, "nsecs": {0, 1, (*checker).nsecs},
		"strncmp": {3, 3, (*checker).strncmp}, "strcontains": {2, 2, (*checker).strcontains}, "strlen": {1, 1, (*checker).strlen}, "strerror": {1, 1, (*checker).strerror},
		"ntop": {1, 2, (*checker).ntop}, "pton": {1, 1, (*checker).pton}, "macaddr": {1, 1, (*checker).macaddr}, "bswap": {1, 1, (*checker).bswap},
		"speculate": {0, 0, (*checker).speculate}, "commit": {0, 1, (*checker).endSpeculation}, "discard": {0, 1, (*checker).endSpeculation},
		"getopt": {1, 3, (*checker).getopt},
		"pid":    {0, 1, (*checker).process}, "tid": {0, 1, (*checker).process}, "ppid": {0, 1, (*checker).process},
		"path": {1, 2, (*checker).path}, "signal": {1, 1, (*checker).signal}, "uaddr": {1, 1, (*checker).uaddr}, "container_of": {3, 3, (*checker).containerOf},
	}
}

// refused are functions of bpftrace that are not here, and why.
var refused = map[string]string{"signal_thread": "signal() reaches the process", "override": unsafeWhy, "cgroupid": cgroupWhy, "cgroup_path": cgroupWhy,
	"skboutput": "there are no packets", "nsenter": "there are no namespaces", "socket_cookie": "there are no sockets of Linux's kernel",
	"percpu_kaddr": "variables are not kept for each CPU",
	"debugf":       "use printf()", "strcap": "use str(address, length)", "scache": cacheWhy,
	"signal_name": "print the number"}

const (
	unsafeWhy = "no script changes what functions return"
	cgroupWhy = "all processes are in the root of control groups"
)

func (c *checker) call(e *Expr) Type {
	f, ok := functions[e.Name]
	if why := refused[e.Name]; !ok && why != "" {
		c.Source.failHint(e.Span, why, "the function %s is not supported", e.Name)
	}
	switch n := len(e.Args); {
	case !ok && n == 0 && slices.Contains(builtinNames(), e.Name): // pid() is pid
		e.Kind = Builtin
		return c.builtin(e)
	case !ok:
		c.Source.failHint(e.Span, didYouMean(e.Name, keys(functions)), "there is no function %s", e.Name)
	case n != f.least && f.least == f.most:
		c.fail(e.Span, "%s() takes %s, and has %d", e.Name, counted(f.least, "argument"), n)
	case n < f.least:
		c.fail(e.Span, "%s() takes at least %s, and has %d", e.Name, counted(f.least, "argument"), n)
	case n > f.most:
		c.fail(e.Span, "%s() takes at most %s, and has %d", e.Name, counted(f.most, "argument"), n)
	}
	return f.check(c, e)
}

// counted is a number of things, in words: 1 argument, 2 arguments.
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// literal returns the text of an argument that must be one.
func (c *checker) literal(e *Expr, i int) string {
	for e.Args[i].Kind == BlockOf && len(e.Args[i].Args) == 1 && len(e.Args[i].Body) == 0 { // of a macro
		e.Args[i] = e.Args[i].Args[0]
	}
	if a := e.Args[i]; a.Kind == Parameter || a.Kind == Call && a.Name == "str" {
		c.expr(a)
		if a.Kind == Parameter {
			text, _ := c.Script.param(int(a.Value))
			a.Kind, a.Name = Text, text
		}
	}
	if e.Args[i].Kind != Text {
		c.fail(e.Args[i].Span, "%s() needs a string that is written out here", e.Name)
	}
	return e.Args[i].Name
}

func (c *checker) printf(e *Expr) Type {
	if e.Name == "system" && !c.opt.Unsafe {
		c.Source.failHint(e.Span, "start bt with --unsafe", "system() runs commands")
	}
	args := e.Args[1:]
	for _, a := range args {
		if t := c.said(a); t.Kind == Void || t.Aggregates() {
			c.fail(a.Span, "a value of type %s cannot be printed by %s()", t, e.Name)
		}
	}
	pieces, err := cutFormat(c.literal(e, 0))
	if err != "" {
		c.fail(e.Args[0].Span, "%s", err)
	}
	wanted := 0
	for _, p := range pieces {
		if p.Verb == 0 {
			continue
		}
		if wanted++; wanted > len(args) {
			continue
		}
		a := args[wanted-1]
		if t := a.Type; c.final && !p.takes(t) {
			c.fail(a.Span, "%s() prints %s, and this is of type %s", e.Name, p.Text, t)
		}
	}
	if wanted != len(args) {
		c.fail(e.Span, "%s() has a format for %s, and is given %d", e.Name, counted(wanted, "value"), len(args))
	}
	return voidType
}

// print takes a map as a whole, or any value.
func (c *checker) print(e *Expr) Type {
	a := e.Args[0]
	if a.Kind == MapValue && len(a.Args) == 0 && (c.maps[a.Name] == nil || len(c.maps[a.Name].Key) > 0 || c.maps[a.Name].Value.Aggregates()) {
		c.wholeMap(e, a)
		for _, n := range e.Args[1:] {
			c.number(n)
			if v, ok := c.constant(n); !ok || v < 0 {
				c.fail(n.Span, "print() needs a number that is written out here")
			}
		}
		return voidType
	}
	if t := c.said(a); t.Kind == Void || t.Aggregates() {
		c.fail(a.Span, "a value of type %s cannot be printed", t)
	}
	if len(e.Args) > 1 {
		c.fail(e.Args[1].Span, "only a map is printed in part")
	}
	return voidType
}

func (c *checker) wholeMap(e, a *Expr) {
	if a.Kind != MapValue || len(a.Args) > 0 {
		c.fail(a.Span, "%s() needs a map without a key", e.Name)
	}
	if a.m = c.maps[a.Name]; a.m == nil || c.final && a.m.Value.Kind == Unknown {
		if c.final {
			c.Source.failHint(a.Span, didYouMean(a.Name, c.assigned()), "nothing is ever assigned to %s", a.Name)
		}
	} else {
		a.Type = a.m.Value
	}
	e.m = a.m
}

func (c *checker) whole(e *Expr) Type {
	if c.wholeMap(e, e.Args[0]); e.m != nil && e.Name == "zero" { // keys without a value stay
		e.m.uses++
	}
	return voidType
}

// remove checks delete(@m[key]), delete(@m, key), and delete(@m) for a map without keys.
func (c *checker) remove(e *Expr) Type {
	if len(e.Args) == 2 && e.Args[0].Kind == MapValue {
		e.Args[0].Args = []*Expr{e.Args[1]}
		if e.Args[1].Kind == Tuple {
			e.Args[0].Args = e.Args[1].Args
		}
		e.Args[0].Span, e.Args = e.Args[0].Span.to(e.Args[1].Span), e.Args[:1]
	}
	if len(e.Args) != 1 || e.Args[0].Kind != MapValue {
		c.fail(e.Span, "delete() needs a map with a key: delete(@m, key)")
	}
	c.key(e.Args[0])
	e.m = e.Args[0].m
	return boolType
}

func (c *checker) hasKey(e *Expr) Type {
	a := e.Args[0]
	if a.Kind != MapValue || len(a.Args) > 0 {
		c.fail(a.Span, "has_key() needs a map without a key, and then the key")
	}
	key := &Expr{Span: e.Span, Kind: MapValue, Name: a.Name, Args: []*Expr{e.Args[1]}}
	if e.Args[1].Kind == Tuple {
		key.Args = e.Args[1].Args
	}
	if m := c.maps[a.Name]; m != nil && m.known && len(m.Key) == 0 {
		c.fail(e.Span, "call to has_key() expects a map with explicit keys, and %s has none", a.Name)
	}
	c.key(key)
	e.m = key.m
	return boolType
}

// process checks pid(), tid() and ppid(), of the thread that was hit or, ppid() alone, of a task. There is one
// namespace of processes, so that both that bpftrace knows are the same.
func (c *checker) process(e *Expr) Type {
	switch a := e.Args; {
	case len(a) == 1 && a[0].Kind == Builtin && (a[0].Name == "curr_ns" || a[0].Name == "init"):
		e.Args = nil
	case len(a) == 1 && e.Name == "ppid":
		c.number(a[0])
		return integer(4, false)
	case len(a) == 1:
		c.fail(a[0].Span, "%s() takes nothing, curr_ns or init", e.Name)
	}
	e.Kind = Builtin
	return c.builtin(e)
}

// path checks path(args.f): the name of a file, as the field "name" has it.
func (c *checker) path(e *Expr) Type {
	file := e.Args[0]
	t := c.expr(file)
	if t.Kind == Unknown {
		return t
	}
	if t.To == nil {
		c.fail(file.Span, "path() takes a file, as args.f of vfs.Read, and this is of type %s", t)
	}
	if f, _ := t.To.find("name"); f == nil || f.Type.Kind != String {
		c.fail(file.Span, "path() takes a file, as args.f of vfs.Read: struct %s has no name", t.To.Name)
	}
	name := &Expr{Span: e.Span, Kind: Field, Name: "name", Args: []*Expr{file}}
	if len(e.Args) == 1 {
		*e = *name
	} else {
		*e = Expr{Span: e.Span, Kind: Call, Name: "str", Args: []*Expr{name, e.Args[1]}}
	}
	return c.expr(e)
}

// containerOf checks container_of(pointer, struct s, field): the struct that a field is in, at this address.
func (c *checker) containerOf(e *Expr) Type {
	p, of, name := e.Args[0], e.Args[1], e.Args[2]
	c.number(p)
	if of.Kind != TypeOf {
		c.fail(of.Span, "container_of() takes a pointer, typeof(struct NAME), and the name of a field")
	}
	t := c.typeOfExpr(of)
	if t.Kind != StructOf || name.Kind != Builtin {
		c.fail(of.Span, "container_of() takes a pointer, typeof(struct NAME), and the name of a field")
	}
	f, names := t.To.find(name.Name)
	if f == nil {
		c.Source.failHint(name.Span, fieldHint(name.Name, names), "struct %s has no field %s", t.To.Name, name.Name)
	}
	e.Value = uint64(f.Offset)
	return Type{Kind: Pointer, Bytes: 8, To: t.To, User: p.Type.User || c.target.User}
}

// signal checks signal(9), signal("KILL") and signal("SIGKILL").
func (c *checker) signal(e *Expr) Type {
	if !c.opt.Unsafe {
		c.Source.failHint(e.Span, "start bt with --unsafe", "signal() changes what programs do")
	}
	a := e.Args[0]
	if a.Kind == Text {
		n, ok := abi.SignalByName(a.Name)
		if !ok {
			c.fail(a.Span, "there is no signal %q", printable(a.Name))
		}
		*a = Expr{Span: a.Span, Kind: Number, Value: uint64(n)}
	}
	c.number(a)
	if n, ok := c.constant(a); ok && (n < 1 || n > abi.SIGMAX) {
		c.fail(a.Span, "signals are from 1 to %d", abi.SIGMAX)
	}
	return voidType
}

// uaddr checks uaddr("name"): the address of a variable or function of the program that was hit, with the type
// that its size suggests.
func (c *checker) uaddr(e *Expr) Type {
	name := c.literal(e, 0)
	of, ok := c.opt.Resolver.(UserAddresser)
	if !ok || c.point.Provider != "uprobe" || c.target.Func == "" {
		c.fail(e.Span, "uaddr() is for uprobes on the beginning of a function: from there, all else is as far as in the file")
	}
	from, bytes, err := of.UserAddress(c.point, name)
	if err != nil {
		c.fail(e.Span, "%v", err)
	}
	e.Value = from
	elem := integer(pick(slices.Contains([]int{1, 2, 4, 8}, bytes), bytes, 8), false)
	return Type{Kind: Pointer, Bytes: 8, Elem: &elem, User: true}
}

func (c *checker) exit(e *Expr) Type {
	for _, a := range e.Args {
		c.number(a)
	}
	return voidType
}
