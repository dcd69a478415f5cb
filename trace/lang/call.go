package lang

import (
	"strings"
)

// function is what is known of a function of the language.
type function struct {
	least, most int // arguments
	check       func(c *checker, e *Expr) Type
}

var functions map[string]function

func init() {
	functions = map[string]function{
		"printf":   {1, 64, (*checker).printf},
		"errorf":   {1, 64, (*checker).printf},
		"warnf":    {1, 64, (*checker).printf},
		"print":    {1, 3, (*checker).print},
		"clear":    {1, 1, (*checker).whole},
		"zero":     {1, 1, (*checker).whole},
		"delete":   {1, 2, (*checker).remove},
		"has_key":  {2, 2, (*checker).hasKey},
		"exit":     {0, 1, (*checker).exit},
		"str":      {1, 2, (*checker).str},
		"kstr":     {1, 2, (*checker).str},
		"ustr":     {1, 2, (*checker).str},
		"count":    {0, 0, (*checker).aggregate},
		"sum":      {1, 1, (*checker).aggregate},
		"min":      {1, 1, (*checker).aggregate},
		"max":      {1, 1, (*checker).aggregate},
		"avg":      {1, 1, (*checker).aggregate},
		"stats":    {1, 1, (*checker).aggregate},
		"hist":     {1, 1, (*checker).aggregate},
		"lhist":    {4, 4, (*checker).lhist},
		"ksym":     {1, 1, (*checker).symbol},
		"usym":     {1, 1, (*checker).symbol},
		"kstack":   {0, 2, (*checker).stackType},
		"ustack":   {0, 2, (*checker).stackType},
		"time":     {0, 1, (*checker).time},
		"strftime": {2, 2, (*checker).strftime},
		"strncmp":  {3, 3, (*checker).strncmp},
		"nsecs":    {0, 1, (*checker).nsecs},
		"len":      {1, 1, (*checker).length},
	}
}

// refused are functions of bpftrace that are not here, for an honest answer.
var refused = strings.Fields("buf join cat system signal override strcontains ntop pton macaddr bswap assert fail reg path kaddr uaddr " +
	"cgroupid cgroup_path skboutput nsenter kptr uptr tseries percpu_kaddr socket_cookie strerror strcap debugf signal cpid offsetof pid tid speculate commit discard scache")

func (c *checker) call(e *Expr) Type {
	f, ok := functions[e.Name]
	switch {
	case !ok && contains(refused, e.Name):
		c.fail(e.Span, "the function %s is not supported", e.Name)
	case !ok:
		c.Source.failHint(e.Span, didYouMean(e.Name, keys(functions)), "there is no function %s", e.Name)
	case len(e.Args) != f.least && f.least == f.most:
		c.fail(e.Span, "%s() takes %d arguments, and has %d", e.Name, f.least, len(e.Args))
	case len(e.Args) < f.least:
		c.fail(e.Span, "%s() takes at least %d arguments, and has %d", e.Name, f.least, len(e.Args))
	case len(e.Args) > f.most:
		c.fail(e.Span, "%s() takes at most %d arguments, and has %d", e.Name, f.most, len(e.Args))
	}
	return f.check(c, e)
}

func contains(all []string, s string) bool {
	for _, o := range all {
		if o == s {
			return true
		}
	}
	return false
}

// literal returns the text of an argument that must be one.
func (c *checker) literal(e *Expr, i int) string {
	if e.Args[i].Kind != Text {
		c.fail(e.Args[i].Span, "%s() needs a string that is written out here", e.Name)
	}
	return e.Args[i].Name
}

func (c *checker) printf(e *Expr) Type {
	args := e.Args[1:]
	for _, a := range args {
		if t := c.expr(a); t.Kind == Void || t.Aggregates() {
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
		c.fail(e.Span, "%s() has a format for %d values, and %d values", e.Name, wanted, len(args))
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
	if t := c.expr(a); t.Kind == Void || t.Aggregates() {
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
	c.wholeMap(e, e.Args[0])
	return voidType
}

// remove checks delete(@m[key]) and delete(@m, key).
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
	return voidType
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
	c.key(key)
	e.m = key.m
	return boolType
}

func (c *checker) exit(e *Expr) Type {
	for _, a := range e.Args {
		c.number(a)
	}
	return voidType
}

// str reads a string at an address, of this many bytes at most.
func (c *checker) str(e *Expr) Type {
	t := c.expr(e.Args[0])
	if t.Kind == String {
		return t
	}
	c.number(e.Args[0])
	if len(e.Args) > 1 {
		c.number(e.Args[1])
		if n, ok := c.constant(e.Args[1]); ok && n > 0 {
			return stringType(min(int(min(n, 1024))+1, c.settings.MaxString))
		}
	}
	return stringType(c.settings.MaxString)
}

// aggregates are the functions that only maps keep.
var aggregates = map[string]Kind{"count": Count, "sum": Sum, "min": Min, "max": Max, "avg": Avg, "stats": Stats, "hist": Hist, "lhist": LHist}

func (c *checker) aggregate(e *Expr) Type {
	t := Type{Kind: aggregates[e.Name], Signed: true}
	for _, a := range e.Args {
		t.Signed = c.number(a).Signed
	}
	return t
}

func (c *checker) lhist(e *Expr) Type {
	t := c.aggregate(e)
	for i, to := range []*int64{&t.Low, &t.High, &t.Step} {
		n, ok := c.constant(e.Args[i+1])
		if !ok {
			c.fail(e.Args[i+1].Span, "lhist() needs numbers that are written out here: lhist(value, low, high, step)")
		}
		*to = n
	}
	switch {
	case t.Step <= 0:
		c.fail(e.Span, "the step of lhist() is above 0, and this is %d", t.Step)
	case t.Low >= t.High:
		c.fail(e.Span, "lhist() goes from %d to %d: the second number must be the larger one", t.Low, t.High)
	case t.Low < -1<<31 || t.High >= 1<<31 || (t.High-t.Low)/t.Step > 1000:
		c.fail(e.Span, "lhist() has at most 1000 steps, and numbers of 32 bits")
	}
	return t
}

func (c *checker) symbol(e *Expr) Type {
	c.number(e.Args[0])
	return Type{Kind: Symbol, Bytes: 8, User: e.Name == "usym"}
}

func (c *checker) time(e *Expr) Type {
	if len(e.Args) == 1 {
		c.literal(e, 0)
	}
	return voidType
}

func (c *checker) strftime(e *Expr) Type {
	c.number(e.Args[1])
	return Type{Kind: TimeText, Bytes: 8, Format: c.literal(e, 0)}
}

func (c *checker) strncmp(e *Expr) Type {
	for _, a := range e.Args[:2] {
		if t := c.expr(a); t.Kind != String && t.Kind != Unknown {
			c.fail(a.Span, "strncmp() compares strings, and this is of type %s", t)
		}
	}
	c.number(e.Args[2])
	if n, ok := c.constant(e.Args[2]); !ok || n < 1 || n > 1024 {
		c.fail(e.Args[2].Span, "strncmp() needs a length that is written out here, from 1 to 1024")
	}
	return int64Type
}

// length checks len(), of a slice.
func (c *checker) length(e *Expr) Type {
	if t := c.expr(e.Args[0]); t.Kind != SliceOf && t.Kind != Unknown {
		c.fail(e.Args[0].Span, "len() takes a slice, and this is of type %s", t)
	}
	return int64Type
}

// nsecs takes which clock is meant: all of them count from boot here.
func (c *checker) nsecs(e *Expr) Type {
	for _, a := range e.Args {
		if a.Kind != Builtin || a.Name != "monotonic" && a.Name != "boot" {
			c.fail(a.Span, "nsecs() knows the clocks monotonic and boot")
		}
	}
	return uint64Type
}
