package lang

import (
	"slices"
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
var otherBuiltins = []string{"comm", "kstack", "ustack", "func", "probe", "probetype", "retval", "ncpus", "args", "ret", "watch", "username", "usermode", "numaid", "ppid", "pcomm", "leader_comm", "ugoid"}

// refusedBuiltins are those that are not here, and why.
var refusedBuiltins = map[string]string{"cpid": childWhy, "has_cpid": childWhy, "ctx": "registers are read by reg(), arguments by args", "config": "its settings are read by config().NAME",
	"line": "kstack(1) says where a hit is", "file": "kstack(1) says where a hit is", "scache": cacheWhy}

const (
	childWhy = "-c runs a line of the shell, which may start any number of processes: compare comm"
	cacheWhy = "DTrace has it, and bpftrace does not: keep values in a map"
)

func builtinNames() []string {
	names := append(keys(simple), otherBuiltins...)
	for i := range 9 {
		names = append(names, "arg"+strconv.Itoa(i), "sarg"+strconv.Itoa(i))
	}
	return names
}

func (c *checker) builtin(e *Expr) Type {
	of, ok := c.enumerator(e.Name)
	if _, state := states.value[e.Name]; state && !ok {
		of, ok = states, true
	}
	if ok {
		t := literal(uint64(of.value[e.Name]))
		e.Kind, e.Op, e.Value = Number, "enum", uint64(of.value[e.Name])
		e.Type = Type{Kind: Int, Bytes: max(4, t.Bytes), Signed: t.Signed, Enum: of}
		return e.Type
	}
	inProgram := c.point != nil && (c.point.Provider == "uprobe" || c.point.Provider == "uretprobe")
	switch {
	case e.Name == "goid" && inProgram:
		c.Source.failHint(e.Span, "ugoid is the program's goroutine, tid its thread", "goid is the kernel's goroutine, which a program does not know")
	case e.Name == "ugoid" && !inProgram:
		c.Source.failHint(e.Span, "goid is the kernel's", "ugoid, the goroutine of a program, is there in uprobe and uretprobe alone")
	}
	if b, ok := simple[e.Name]; ok {
		return b.t
	}
	switch name := e.Name; name {
	case "username":
		return Type{Kind: UserName, Bytes: 8}
	case "numaid":
		e.Kind, e.Value = Number, 0
		return integer(4, false)
	case "usermode":
		if c.target.Record || c.point.Provider == "software" {
			c.fail(e.Span, "usermode is not known at %s: it has no registers of what was interrupted", c.point.Text)
		}
		return integer(1, false)
	case "ppid":
		return integer(4, false)
	case "ugoid":
		c.needsConvention(e)
		return uint64Type
	case "probetype":
		if p := c.point.Provider; p == "begin" || p == "end" || p == "self" {
			return e.become("special")
		}
		return e.become(c.point.Provider)
	case "comm", "pcomm", "leader_comm":
		return stringType(16)
	case "kstack", "ustack":
		return c.stackType(e)
	case "func":
		if c.target.Func != "" {
			return e.become(c.target.Func)
		}
		return Type{Kind: Symbol, Bytes: 8, User: c.target.User}
	case "probe":
		return Type{Kind: ProbeID, Bytes: 16}
	case "ncpus":
		return integer(8, true)
	case "retval":
		if c.target.Result == nil {
			c.fail(e.Span, "retval is there in kretprobe, uretprobe, fexit and sys_exit alone")
		}
		c.needsConvention(e)
		t := c.target.Result.Type
		t.User = t.User || c.target.User
		return t
	case "args":
		return c.allArguments(e)
	case "ret", "watch":
		c.fail(e.Span, "%s needs the name of a field: %s.NAME", name, name)
	}
	if n, ok := strings.CutPrefix(e.Name, "sarg"); ok {
		if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < 64 {
			c.needsStack(e)
			e.Value = uint64(i)
			return Type{Kind: Int, Bytes: 8, Signed: true, User: c.target.User}
		}
	}
	if why := refusedBuiltins[e.Name]; why != "" {
		c.Source.failHint(e.Span, why, "the builtin %s is not supported", e.Name)
	}
	if n, ok := strings.CutPrefix(e.Name, "arg"); ok {
		if i, err := strconv.Atoi(n); err == nil {
			return c.register(e, i)
		}
	}
	c.Source.failHint(e.Span, didYouMean(e.Name, builtinNames()), "there is no builtin %s", e.Name)
	return Type{}
}

// become makes a builtin the text that it is at this point; Op keeps its name for the next one.
func (e *Expr) become(text string) Type {
	e.Kind, e.Op, e.Name = Text, e.Name, text
	return stringType(len(text) + 1)
}

// register checks argN.
func (c *checker) register(e *Expr, i int) Type {
	switch n := len(c.target.Args); {
	case n == 0:
		c.fail(e.Span, "%s has no arguments: they are there in kprobe and uprobe", c.point.Provider)
	case i < 0 || i >= n:
		c.fail(e.Span, "%s has arg0 to arg%d", c.point.Text, n-1)
	}
	c.needsConvention(e)
	if e.Value = uint64(c.target.Args[i]); c.target.OnStack {
		e.Value = uint64(i)
	}
	t := int64Type
	t.User = c.target.User
	return t
}

// needsConvention refuses arguments and results where it is not known where they are.
func (c *checker) needsConvention(e *Expr) {
	if why := c.target.Hidden; why != "" {
		c.fail(e.Span, "%s is not known at %s: %s", e.Name, c.point.Text, why)
	}
}

// needsRegisters refuses what is read from the registers of a hit where there are none.
func (c *checker) needsRegisters(e *Expr) {
	if len(c.target.Args) == 0 && c.target.Result == nil {
		c.fail(e.Span, "%s has no registers: they are there in kprobe, kretprobe, uprobe and uretprobe", c.point.Provider)
	}
}

// needsStack refuses arguments on the stack where they are not the latest there.
func (c *checker) needsStack(e *Expr) {
	switch {
	case c.point.Provider == "tracepoint" && !c.target.Record:
		c.fail(e.Span, "%s: the arguments of system calls are in registers: args has their names", e.Name)
	case c.target.Result != nil:
		c.fail(e.Span, "%s: the arguments on the stack are gone when a function returns: read them in a kprobe or uprobe", e.Name)
	}
	c.needsRegisters(e)
}

// stackModes are how stacks are printed: with names, with addresses too, or with addresses alone.
var stackModes = []string{"bpftrace", "perf", "raw"}

// stackType is the type of kstack and ustack, with or without a number of frames.
func (c *checker) stackType(e *Expr) Type {
	t := Type{Kind: StackID, Bytes: 8, User: e.Name == "ustack", Depth: c.settings.Stack, Mode: c.settings.StackMode}
	for _, a := range e.Args {
		if a.Kind == Builtin && slices.Contains(stackModes, a.Name) {
			t.Mode = a.Name
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
