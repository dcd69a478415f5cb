package lang

import (
	"strconv"
	"strings"

	"sonde/bpf"
)

// simple are the builtins that a helper gives, without arguments. Of numbers of 4 bytes it is the low half
// of R0, or the high one.
var simple = map[string]struct {
	helper int
	high   bool
	t      Type
}{
	"pid":     {14, true, integer(4, false)},
	"tid":     {14, false, integer(4, false)},
	"uid":     {15, false, integer(4, false)},
	"gid":     {15, true, integer(4, false)},
	"nsecs":   {5, false, uint64Type},
	"cpu":     {8, false, integer(4, false)},
	"rand":    {7, false, integer(4, false)},
	"jiffies": {118, false, uint64Type},
	"curtask": {35, false, uint64Type},
	"cgroup":  {80, false, uint64Type},
	"goid":    {bpf.HelperGoid, false, uint64Type},
	"gcphase": {bpf.HelperGCPhase, false, uint64Type},
	"gcnum":   {bpf.HelperGCNum, false, uint64Type},
	"elapsed": {5, false, uint64Type},
}

// otherBuiltins are those without a helper of their own.
var otherBuiltins = []string{"comm", "kstack", "ustack", "func", "probe", "retval", "ncpus", "args", "ret", "watch"}

func builtinNames() []string {
	names := append(keys(simple), otherBuiltins...)
	for i := range 9 {
		names = append(names, "arg"+strconv.Itoa(i))
	}
	return names
}

func (c *checker) builtin(e *Expr) Type {
	if b, ok := simple[e.Name]; ok {
		return b.t
	}
	switch name := e.Name; name {
	case "comm":
		return stringType(16)
	case "kstack", "ustack":
		return c.stackType(e)
	case "func":
		return Type{Kind: Symbol, Bytes: 8, User: c.target.User}
	case "probe":
		return Type{Kind: ProbeID, Bytes: 16}
	case "ncpus":
		return integer(8, true)
	case "retval":
		if c.target.Result == nil {
			c.fail(e.Span, "retval is there in kretprobe, uretprobe, fexit and sys_exit alone")
		}
		t := c.target.Result.Type
		t.User = t.User || c.target.User
		return t
	case "args", "ret", "watch":
		c.fail(e.Span, "%s needs the name of a field: %s.NAME", name, name)
	}
	if n, ok := strings.CutPrefix(e.Name, "arg"); ok {
		if i, err := strconv.Atoi(n); err == nil {
			return c.register(e, i)
		}
	}
	c.Source.failHint(e.Span, didYouMean(e.Name, builtinNames()), "there is no builtin %s", e.Name)
	return Type{}
}

// register checks argN.
func (c *checker) register(e *Expr, i int) Type {
	switch n := len(c.target.Args); {
	case n == 0:
		c.fail(e.Span, "%s has no arguments: they are there in kprobe and uprobe", c.point.Provider)
	case i < 0 || i >= n:
		c.fail(e.Span, "%s has arg0 to arg%d", c.point.Text, n-1)
	}
	e.Value = uint64(c.target.Args[i])
	t := int64Type
	t.User = c.target.User
	return t
}

// stackType is the type of kstack and ustack, with or without a number of frames.
func (c *checker) stackType(e *Expr) Type {
	t := Type{Kind: StackID, Bytes: 8, User: e.Name == "ustack", Depth: c.settings.Stack}
	for _, a := range e.Args {
		if a.Kind == Builtin && (a.Name == "perf" || a.Name == "bpftrace") {
			continue
		}
		n, ok := c.constant(a)
		if !ok || n < 1 || n > 127 {
			c.fail(a.Span, "%s takes a number of frames from 1 to 127", e.Name)
		}
		t.Depth = int(n)
	}
	return t
}
