package btf

import (
	"fmt"
	"math"
	"syscall"

	"sonde/kernel/refusal"
)

// layout is what is computed for each type.
type layout struct {
	state    uint8
	sizeless bool   // values have no size
	size     uint32 // bytes
	under    ID     // without names and qualifiers
	nameless uint32 // FuncProto: the first parameter without a name, from 1; 0: none. Many functions may share one
}

// Values of layout.state, and of marks in checkChains.
const (
	unseen uint8 = iota
	open         // what it contains is being looked at
	closed
)

// checkChains refuses pointers, typedefs and qualifiers that lead back to themselves without a
// structure, array or function in between. Each has one successor, so no recursion is needed.
func (t *Table) checkChains() error {
	marks := make([]uint8, len(t.types))
	for start := range t.types {
		id := ID(start)
		for t.isLink(id) && marks[id] == unseen {
			marks[id] = open
			id = t.types[id].Of
		}
		if t.isLink(id) && marks[id] == open {
			return refusal.New(syscall.EEXIST, "BTF: %s: it leads back to itself: expected a structure, an array or a function in between", t.describe(id))
		}
		for id = ID(start); t.isLink(id) && marks[id] == open; id = t.types[id].Of {
			marks[id] = closed
		}
	}
	return nil
}

func (t *Table) isLink(id ID) bool {
	kind := t.types[id].Kind
	return kind == Ptr || kind.isModifier()
}

// layOut computes the sizes of all types, and checks what depends on them.
func (t *Table) layOut() error {
	t.layouts = make([]layout, len(t.types))
	for id := range t.types {
		if err := t.layOutOne(ID(id), 0); err != nil {
			return err
		}
	}
	for id := range t.types {
		if why := t.callFault(&t.types[id]); why != "" {
			return refusal.New(syscall.EINVAL, "BTF: %s: %s", t.describe(ID(id)), why)
		}
	}
	return nil
}

// layOutOne computes the size of a type after those of what it contains. depth is how many types
// that wait for this one.
func (t *Table) layOutOne(id ID, depth int) error {
	l := &t.layouts[id]
	switch {
	case l.state == closed:
		return nil
	case l.state == open:
		return refusal.New(syscall.EEXIST, "BTF: %s: it contains itself", t.describe(id))
	case depth == maxDepth:
		return refusal.New(syscall.E2BIG, "BTF: %s: more than %d levels of types contain it, and come before it", t.describe(id), maxDepth)
	}
	l.state = open
	x := &t.types[id]
	if err := t.layOutParts(x, depth+1); err != nil {
		return err
	}
	*l = layout{state: closed, under: id}
	if why := t.measure(x, l); why != "" {
		return refusal.New(syscall.EINVAL, "BTF: %s: %s", t.describe(id), why)
	}
	return nil
}

// layOutParts computes the sizes of what a type contains by value.
func (t *Table) layOutParts(x *Type, depth int) error {
	switch {
	case x.Kind.isModifier() || x.Kind == Var:
		return t.layOutOne(x.Of, depth)
	case x.Kind == Array:
		if err := t.layOutOne(x.Index, depth); err != nil {
			return err
		}
		return t.layOutOne(x.Of, depth)
	}
	for i := range x.Members {
		if err := t.layOutOne(x.Members[i].Type, depth); err != nil {
			return err
		}
	}
	for i := range x.Variables {
		if err := t.layOutOne(x.Variables[i].Var, depth); err != nil {
			return err
		}
	}
	return nil
}

// measure sets the size of a type whose parts have theirs, and returns what is wrong, or "".
func (t *Table) measure(x *Type, l *layout) string {
	l.size = x.Size
	switch x.Kind {
	case Ptr:
		l.size = 8
	case Typedef, Volatile, Const, Restrict, TypeTag:
		*l = t.layouts[x.Of]
	case Array:
		return t.measureArray(x, l)
	case Struct, Union:
		return t.placesFault(x)
	case Var:
		of := &t.layouts[x.Of]
		l.size, l.sizeless = of.size, of.sizeless
		if of.sizeless && !t.object {
			return fmt.Sprintf("it is of %s, which has no size", t.describe(x.Of))
		}
	case Datasec:
		return t.variablesFault(x)
	case FuncProto:
		l.sizeless, l.nameless = true, x.firstNameless()
	case Void, Fwd, Func, DeclTag:
		l.sizeless = true
	}
	return ""
}

func (t *Table) measureArray(x *Type, l *layout) string {
	if index := &t.types[t.layouts[x.Index].under]; !index.isRegular() {
		return fmt.Sprintf("its index is of %s: expected an integer that fills its bytes", t.describe(x.Index))
	}
	of := &t.layouts[x.Of]
	if of.sizeless {
		return fmt.Sprintf("its elements are of %s, which has no size", t.describe(x.Of))
	}
	if under := &t.types[of.under]; under.Kind == Int && !under.isRegular() {
		return fmt.Sprintf("its elements are of %s: expected an integer that fills its bytes", t.describe(x.Of))
	}
	size := uint64(x.Count) * uint64(of.size)
	if size > math.MaxUint32 {
		return fmt.Sprintf("its %d elements of %d bytes take more than 4 GiB", x.Count, of.size)
	}
	l.size = uint32(size)
	return ""
}

// isRegular tells whether x is an integer as C has them, with as many bits as its bytes hold.
func (x *Type) isRegular() bool {
	if x.Kind != Int || x.Shift != 0 || uint32(x.Bits) != 8*x.Size {
		return false
	}
	switch x.Size {
	case 1, 2, 4, 8, 16:
		return true
	}
	return false
}

// placesFault checks that the members of a structure or union lie inside it.
func (t *Table) placesFault(x *Type) string {
	for i := range x.Members {
		m := &x.Members[i]
		if t.layouts[m.Type].sizeless {
			return fmt.Sprintf("%s %s, which has no size", role("member", i, m.Name), t.describe(m.Type))
		}
		bits, why := t.width(m)
		if why != "" {
			return fmt.Sprintf("member %d (%s) %s", i, m.Name, why)
		}
		if uint64(m.Offset)+bits > 8*uint64(x.Size) {
			return fmt.Sprintf("member %d (%s) ends at bit %d: the whole has %d bytes", i, m.Name, uint64(m.Offset)+bits, x.Size)
		}
	}
	return ""
}

// width returns how many bits a member takes, and what is wrong with it, or "".
func (t *Table) width(m *Member) (uint64, string) {
	of := &t.layouts[m.Type]
	under, whole := &t.types[of.under], 8*uint64(of.size)
	if m.Bits != 0 {
		switch under.Kind {
		case Int, Enum, Enum64:
		default:
			return 0, fmt.Sprintf("is a bit-field of %s: expected an integer or enumeration", t.describe(m.Type))
		}
		if under.Kind == Int && !under.isRegular() || uint64(m.Bits) > whole {
			return 0, fmt.Sprintf("has %d bits of %s, which does not have as many", m.Bits, t.describe(m.Type))
		}
		return uint64(m.Bits), ""
	}
	if under.Kind == Int && !under.isRegular() {
		return uint64(under.Shift) + uint64(under.Bits), ""
	}
	if m.Offset%8 != 0 {
		return 0, fmt.Sprintf("begins at bit %d: expected a multiple of 8, since it is not a bit-field", m.Offset)
	}
	return whole, ""
}

// variablesFault checks that the variables of a section have room in it.
func (t *Table) variablesFault(x *Type) string {
	for i, v := range x.Variables {
		if of := &t.layouts[v.Var]; v.Size < of.size && x.Size != 0 {
			return fmt.Sprintf("variable %d has %d bytes: %s takes %d", i, v.Size, t.describe(v.Var), of.size)
		}
	}
	return ""
}

// firstNameless returns which parameter is the first without a name, from 1, or 0.
func (x *Type) firstNameless() uint32 {
	for i, p := range x.Params {
		if p.Name == "" && p.Type != 0 {
			return uint32(i + 1)
		}
	}
	return 0
}

// callFault checks that what a function takes and returns has a size, and names if it is defined.
func (t *Table) callFault(x *Type) string {
	if x.Kind == Func && !t.object {
		if n := t.layouts[x.Of].nameless; n != 0 {
			return fmt.Sprintf("parameter %d of type %d has no name: expected one, since the function is defined", n-1, x.Of)
		}
	}
	if x.Kind != FuncProto {
		return ""
	}
	if x.Of != 0 && t.layouts[x.Of].sizeless {
		return fmt.Sprintf("it returns %s, which has no size", t.describe(x.Of))
	}
	for i, p := range x.Params {
		if p.Type != 0 && t.layouts[p.Type].sizeless {
			return fmt.Sprintf("%s %s, which has no size", role("parameter", i, p.Name), t.describe(p.Type))
		}
	}
	return ""
}
