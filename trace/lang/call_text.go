package lang

import (
	"net/netip"
	"strings"
)

// maxText is the most bytes that a string can have.
const maxText = 10240

// texts checks arguments that are strings.
func (c *checker) texts(e *Expr, args []*Expr) {
	for _, a := range args {
		c.argumentText(a)
		if t := c.expr(a); t.Kind != String && t.Kind != Unknown {
			c.fail(a.Span, "%s() works on strings, and this is of type %s", e.Name, t)
		}
	}
}

// str reads a string at an address, of this many bytes at most.
func (c *checker) str(e *Expr) Type {
	c.argumentText(e.Args[0])
	t := c.expr(e.Args[0])
	if t.Kind == String {
		if len(e.Args) > 1 {
			if n, ok := c.constant(e.Args[1]); ok && n > 0 && n < int64(t.Bytes) {
				t.Bytes = int(n)
			}
			c.number(e.Args[1])
		}
		return t
	}
	if t.isError() {
		if len(e.Args) > 1 || !e.Args[0].inMemory() {
			c.fail(e.Span, "str() takes an error of Go alone, and where it lies: str(ret.1)")
		}
		return stringType(c.settings.MaxString)
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

// inMemory tells whether a value of Go is a whole one, and not a copy of its first word.
func (e *Expr) inMemory() bool { return e.Kind == Field && e.Args[0].Type.Kind != TupleOf }

// said has an error of Go printed as its text; of a copy that a script has, only the type is known.
func (c *checker) said(e *Expr) Type {
	t := c.expr(e)
	if !t.isError() || !e.inMemory() {
		return t
	}
	of := *e
	*e = Expr{Span: e.Span, Kind: Call, Name: "str", Args: []*Expr{&of}}
	return c.expr(e)
}

// buf takes bytes: of an array, a string, or at an address.
func (c *checker) buf(e *Expr) Type {
	a := e.Args[0]
	c.argumentText(a)
	t := c.expr(a)
	n := int64(t.Bytes)
	switch {
	case t.Kind == Unknown:
		return t
	case t.Kind == String || t.Kind == ArrayOf || t.Kind == StructOf:
	case !t.isInt():
		c.fail(a.Span, "buf() takes a string, an array or an address, and this is of type %s", t)
	case len(e.Args) < 2:
		c.fail(e.Span, "buf() needs to know how many bytes are meant: buf(address, length)")
	default:
		n = int64(c.settings.MaxString)
	}
	if len(e.Args) > 1 {
		c.number(e.Args[1])
		if given, ok := c.constant(e.Args[1]); ok {
			n = given
		}
	}
	if n < 1 || n > maxText {
		c.fail(e.Span, "buf() takes 1 to %d bytes", maxText)
	}
	return Type{Kind: Bytes, Bytes: int(n)}
}

func (c *checker) strcontains(e *Expr) Type {
	c.texts(e, e.Args)
	if t := e.Args[1].Type; t.Bytes > maxNeedle {
		c.fail(e.Args[1].Span, "strcontains() looks for at most %d bytes", maxNeedle)
	}
	return boolType
}

// maxNeedle is the most that strcontains() looks for, in bytes.
const maxNeedle = 64

func (c *checker) strlen(e *Expr) Type {
	c.texts(e, e.Args)
	return int64Type
}

func (c *checker) strerror(e *Expr) Type {
	c.number(e.Args[0])
	return Type{Kind: ErrorText, Bytes: 8}
}

// The families of addresses, by Linux's numbers.
const inet4, inet6 = 2, 10

// ntop prints an address of the Internet: a number, or an array of 4 or 16 bytes.
func (c *checker) ntop(e *Expr) Type {
	a := e.Args[len(e.Args)-1]
	t := c.expr(a)
	switch {
	case t.Kind == Unknown || t.isInt() && t.Kind != Pointer:
	case t.Kind == ArrayOf && (t.Bytes == 4 || t.Bytes == 16):
	case t.Kind == String && (t.Bytes == 4 || t.Bytes == 16): // char[4]
	default:
		c.fail(a.Span, "ntop() takes a number, or an array of 4 or 16 bytes, and this is of type %s", t)
	}
	if len(e.Args) > 1 {
		c.number(e.Args[0])
	}
	return Type{Kind: Inet, Bytes: 16}
}

// pton is an address that is written out.
func (c *checker) pton(e *Expr) Type {
	text := c.literal(e, 0)
	addr, err := netip.ParseAddr(text)
	if err != nil {
		c.fail(e.Span, "%q is not an address", printable(text))
	}
	elem := integer(1, false)
	e.Op = string(addr.AsSlice())
	return Type{Kind: ArrayOf, Elem: &elem, Bytes: len(e.Op)}
}

func (c *checker) macaddr(e *Expr) Type {
	a := e.Args[0]
	if t := c.expr(a); t.Kind != Unknown && !t.isInt() && (t.Kind != ArrayOf && t.Kind != String || t.Bytes != 6) {
		c.fail(a.Span, "macaddr() takes an array of 6 bytes or its address, and this is of type %s", t)
	}
	return Type{Kind: Mac, Bytes: 8}
}

// bswap turns the bytes of a number around.
func (c *checker) bswap(e *Expr) Type {
	t := c.number(e.Args[0])
	return integer(max(1, t.Bytes), false)
}

// join prints the strings of an array of pointers that ends with 0.
func (c *checker) join(e *Expr) Type {
	c.number(e.Args[0])
	if len(e.Args) > 1 {
		c.literal(e, 1)
	}
	return voidType
}

// space says where an address is meant: in a program or in the kernel.
func (c *checker) space(e *Expr) Type {
	t := c.number(e.Args[0])
	t.User = e.Name == "uptr"
	return t
}

func (c *checker) symbol(e *Expr) Type {
	c.number(e.Args[0])
	return Type{Kind: Symbol, Bytes: 8, User: e.Name == "usym"}
}

// variable makes a tuple of what it takes to name the variable or the field at an address: a pointer, whose type is known, and
// the calls that lead to its use, for kvar(); an address and the process, for umap().
func (c *checker) variable(e *Expr) Type {
	t := c.number(e.Args[0])
	if e.Name == "umap" {
		e.Args = append(e.Args, &Expr{Span: e.Span, Kind: Builtin, Name: "pid"})
	} else if s := c.expr(e.Args[1]); t.Kind != Unknown && (t.To == nil || s.Kind != StackID || s.User) {
		c.fail(e.Span, "kvar() takes a pointer to a struct of the kernel and the calls that use it, as in kvar(args.m, kstack(4)), and these are of type %s and %s", t, s)
	}
	e.Kind, e.Op = Tuple, e.Name
	return c.typeOfExpr(e)
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
	c.texts(e, e.Args[:2])
	c.number(e.Args[2])
	if n, ok := c.constant(e.Args[2]); !ok || n < 1 || n > 1024 {
		c.fail(e.Args[2].Span, "strncmp() needs a length that is written out here, from 1 to 1024")
	}
	return int64Type
}

// length checks len(), of a slice, a string or a map.
func (c *checker) length(e *Expr) Type {
	if a := e.Args[0]; a.Kind == MapValue && len(a.Args) == 0 {
		c.wholeMap(e, a)
		if m := a.m; c.final && (m == nil || len(m.Key) == 0 || m.Value.Aggregates()) {
			c.fail(e.Span, "call to len() expects a map with explicit keys (non-scalar map) that is not kept for each CPU")
		}
		return int64Type
	}
	t := c.expr(e.Args[0])
	switch t.Kind {
	case String:
		e.Name = "strlen"
	case ArrayOf:
		e.Kind, e.Value = Number, uint64(t.Bytes/max(1, t.Elem.Bytes))
	case SliceOf, StackID, Unknown:
	default:
		c.fail(e.Args[0].Span, "len() takes a slice, a string, an array, a stack or a map, and this is of type %s", t)
	}
	return int64Type
}

// clocks are what nsecs() can be given, and how far it is ahead of the wall clock; all others count from boot.
var clocks = map[string]int64{"monotonic": 0, "boot": 0, "tai": leapSeconds, "sw_tai": leapSeconds}

// leapSeconds is how far TAI is ahead of UTC, in ns.
const leapSeconds = 37e9

// nsecs takes which clock is meant.
func (c *checker) nsecs(e *Expr) Type {
	e.Value = 0
	for _, a := range e.Args {
		ahead, ok := clocks[a.Name]
		if a.Kind != Builtin || !ok {
			c.fail(a.Span, "nsecs() knows the clocks %s", strings.Join(keys(clocks), ", "))
		}
		if ahead != 0 {
			e.Value = uint64(c.opt.Epoch + ahead)
		}
	}
	return uint64Type
}
