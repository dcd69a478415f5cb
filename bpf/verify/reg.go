package verify

import (
	"fmt"

	"sonde/bpf"
	"sonde/bpf/verify/scalar"
)

// kind is what sort of value a register or spilled value is.
type kind uint8

const (
	unset kind = iota // not written, or not to be read
	number
	toContext
	toStack
	toMap    // the map itself
	toValue  // a value of a map
	toRecord // a ring record
	toKernel // memory of the kernel, which need not be there
	function // a function of the program
)

var kindNames = [...]string{"nothing (it was not written)", "scalar", "ctx", "fp", "map_ptr", "map_value", "ringbuf_mem", "ptr_", "func"}

// reg is what is known of a value.
type reg struct {
	kind     kind
	nullable bool  // the pointer may be 0; only a comparison with 0 is allowed
	frame    int8  // toStack: whose stack
	id       int32 // numbers with the same id differ by the difference of add; pointers with the same id are null together; of a record, its reference
	add      int64
	size     int          // toRecord: bytes; function: its first instruction
	spec     *bpf.MapSpec // toMap, toValue
	n        scalar.Value // the number, or the offset from what the pointer points to
	from     *origin      // how the value came about
}

func (r *reg) isPointer() bool { return r.kind > number }

func (r *reg) isConst(v uint64) bool { return r.kind == number && r.n.IsConst() && r.n.Bits.Value == v }

func numberOf(v scalar.Value) reg { return reg{kind: number, n: v, from: &origin{}} }

func constant(v uint64) reg { return numberOf(scalar.Const(v)) }

// loaded is a number of n bytes of which nothing else is known.
func loaded(n int) scalar.Value { return scalar.Any().ZeroExtend(uint(8 * n)) }

func pointer(k kind) reg { return reg{kind: k, n: scalar.Const(0), from: &origin{}} }

// name is Linux's name of the kind.
func (r *reg) name() string {
	if r.nullable {
		return kindNames[r.kind] + "_or_null"
	}
	return kindNames[r.kind]
}

// String is the form of the log.
func (r *reg) String() string {
	switch r.kind {
	case unset:
		return kindNames[unset]
	case number:
		if r.n.IsConst() {
			return r.n.String()
		}
		return "scalar" + r.withID(r.n.String())
	case toStack:
		if r.n.IsConst() {
			return fmt.Sprintf("fp%d", r.n.Smin)
		}
		return "fp" + r.n.String()
	case function:
		return fmt.Sprintf("func(%d)", r.size)
	}
	return r.name() + "(" + r.details() + ")"
}

func (r *reg) withID(s string) string {
	switch {
	case r.id == 0:
		return s
	case s == "()":
		return fmt.Sprintf("(id=%d)", r.id)
	}
	return fmt.Sprintf("(id=%d,%s", r.id, s[1:])
}

func (r *reg) details() string {
	s := ""
	add := func(format string, args ...any) {
		if s != "" {
			s += ","
		}
		s += fmt.Sprintf(format, args...)
	}
	if r.id != 0 {
		add("id=%d", r.id)
	}
	if r.spec != nil {
		add("map=%s,ks=%d,vs=%d", r.spec.Name, r.spec.KeySize, r.spec.ValueSize)
	}
	if r.kind == toRecord {
		add("sz=%d", r.size)
	}
	switch {
	case !r.n.IsConst():
		add("off=%s", r.n)
	case r.n.Smin != 0:
		add("off=%d", r.n.Smin)
	}
	return s
}

// origin notes how a value was used, and what it was made from. A value that is kept in a state
// has an origin of its own, so that what happens to it afterwards is seen there.
type origin struct {
	use  use
	kept bool // it is the same value as from[0]
	from [2]*origin
}

// use is how a value was used since.
type use uint8

const (
	unused  use = iota
	read        // what kind of value it was mattered
	decided     // what is known of it mattered
)

// mark notes a use, and passes it on to where the value came from.
func (o *origin) mark(u use) {
	for todo := []*origin{o}; len(todo) > 0; {
		o := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if o == nil || o.use >= u {
			continue
		}
		o.use = u
		if o.kept || u == decided {
			todo = append(todo, o.from[0], o.from[1])
		}
	}
}

// derived is the origin of what is made from a and b.
func derived(a, b *origin) *origin { return &origin{from: [2]*origin{a, b}} }

// refined is the origin of the value that has the origin a, of which something more is known by
// comparing what has the origin b.
func refined(a, b *origin) *origin { return &origin{kept: true, from: [2]*origin{a, b}} }
