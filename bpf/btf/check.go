package btf

import (
	"fmt"
	"syscall"

	"sonde/kernel/refusal"
)

// check checks what types say of each other.
func (t *Table) check() error {
	for id := range t.types {
		if why := t.fault(&t.types[id]); why != "" {
			return refusal.New(syscall.EINVAL, "BTF: %s: %s", t.describe(ID(id)), why)
		}
	}
	if err := t.checkChains(); err != nil {
		return err
	}
	return t.layOut()
}

// fault returns what is wrong with a type and the kinds that it refers to, or "". Nothing is known
// of their sizes yet.
func (t *Table) fault(x *Type) string {
	switch x.Kind {
	case Int:
		return intFault(x)
	case Float:
		return floatFault(x)
	case Enum, Enum64:
		if x.Size == 0 || x.Size > 8 || x.Size&(x.Size-1) != 0 {
			return fmt.Sprintf("it takes %d bytes: expected 1, 2, 4 or 8", x.Size)
		}
	case Ptr, Typedef, Volatile, Const, Restrict, TypeTag:
		return t.valueFault(x.Of, "it refers to")
	case Array:
		return t.arrayFault(x)
	case Struct, Union:
		return t.membersFault(x)
	case Func:
		return t.funcFault(x)
	case FuncProto:
		return t.protoFault(x)
	case Var:
		return t.varFault(x)
	case Datasec:
		return t.datasecFault(x)
	case DeclTag:
		return t.declTagFault(x)
	}
	return ""
}

func intFault(x *Type) string {
	switch {
	case x.Encoding != 0 && x.Encoding != Signed && x.Encoding != Char && x.Encoding != Bool:
		return fmt.Sprintf("its encoding is %d: expected 0, 1 (signed), 2 (character) or 4 (truth value)", x.Encoding)
	case int(x.Shift)+int(x.Bits) > 128:
		return fmt.Sprintf("it has %d bits from bit %d on: at most 128 are possible", x.Bits, x.Shift)
	case uint64(x.Shift)+uint64(x.Bits) > 8*uint64(x.Size):
		return fmt.Sprintf("it has %d bits from bit %d on, but %d bytes", x.Bits, x.Shift, x.Size)
	}
	return ""
}

func floatFault(x *Type) string {
	switch x.Size {
	case 2, 4, 8, 12, 16:
		return ""
	}
	return fmt.Sprintf("it takes %d bytes: expected 2, 4, 8, 12 or 16", x.Size)
}

// rangeFault checks an id. role says in an error what it is for, as "member 0 (next) is of".
func (t *Table) rangeFault(id ID, role string) string {
	if int64(id) >= int64(len(t.types)) {
		return fmt.Sprintf("%s type %d: the last type is %d", role, id, len(t.types)-1)
	}
	return ""
}

// valueFault checks the id of a type that is not a declaration.
func (t *Table) valueFault(id ID, role string) string {
	if why := t.rangeFault(id, role); why != "" {
		return why
	}
	if !t.types[id].Kind.isValue() {
		return fmt.Sprintf("%s %s: expected a type that values have", role, t.describe(id))
	}
	return ""
}

// kindFault checks the id of a type that must be of one kind.
func (t *Table) kindFault(id ID, role string, want Kind) string {
	if why := t.rangeFault(id, role); why != "" {
		return why
	}
	if t.types[id].Kind != want {
		return fmt.Sprintf("%s %s: expected a %s", role, t.describe(id), want)
	}
	return ""
}

func (t *Table) arrayFault(x *Type) string {
	if why := t.valueFault(x.Index, "its index is of"); why != "" {
		return why
	}
	return t.valueFault(x.Of, "its elements are of")
}

// role says which part of a type an error is about, as "member 0 (next) is of".
func role(what string, i int, name string) string {
	if name == "" {
		return fmt.Sprintf("%s %d is of", what, i)
	}
	return fmt.Sprintf("%s %d (%s) is of", what, i, name)
}

func (t *Table) membersFault(x *Type) string {
	last := uint32(0)
	for i := range x.Members {
		m := &x.Members[i]
		if why := t.valueFault(m.Type, role("member", i, m.Name)); why != "" {
			return why
		}
		if x.Kind == Union && m.Offset != 0 {
			return fmt.Sprintf("member %d (%s) is at bit %d: expected 0 in a union", i, m.Name, m.Offset)
		}
		if m.Offset < last {
			return fmt.Sprintf("member %d (%s) is at bit %d, but the one before it is at %d", i, m.Name, m.Offset, last)
		}
		last = m.Offset
	}
	return ""
}

func (t *Table) funcFault(x *Type) string {
	if x.Linkage > Extern {
		return fmt.Sprintf("its linkage is %d: expected 0 (static), 1 (global) or 2 (extern)", x.Linkage)
	}
	return t.kindFault(x.Of, "it is a function of", FuncProto)
}

func (t *Table) protoFault(x *Type) string {
	if why := t.valueFault(x.Of, "it returns"); why != "" {
		return why
	}
	for i, p := range x.Params {
		if why := t.valueFault(p.Type, role("parameter", i, p.Name)); why != "" {
			return why
		}
		if p.Type == 0 && (i < len(x.Params)-1 || p.Name != "") {
			return fmt.Sprintf("parameter %d (%s) is void: expected a type; only the last one may be void, and then has no name", i, p.Name)
		}
	}
	return ""
}

func (t *Table) varFault(x *Type) string {
	if x.Linkage > Global && (x.Linkage != Extern || !t.object) {
		return fmt.Sprintf("its linkage is %d: expected 0 (static) or 1 (global)", x.Linkage)
	}
	if x.Of == 0 && !t.object {
		return "it is void: expected a type that has values"
	}
	return t.valueFault(x.Of, "it is of")
}

func (t *Table) datasecFault(x *Type) string {
	if x.Size == 0 && !t.object {
		return "it takes 0 bytes: expected its size"
	}
	end := uint64(0)
	for i, v := range x.Variables {
		what := t.rangeFault(v.Var, role("variable", i, ""))
		switch {
		case what != "":
			return what
		case x.Size == 0:
			// A loader will set the size and the offsets.
		case uint64(v.Offset) < end:
			return fmt.Sprintf("variable %d is at offset %d, but the one before it ends at %d", i, v.Offset, end)
		case v.Size == 0 || uint64(v.Offset)+uint64(v.Size) > uint64(x.Size):
			return fmt.Sprintf("variable %d has %d bytes at offset %d: expected some that end within the section, which has %d",
				i, v.Size, v.Offset, x.Size)
		}
		if kind := t.types[v.Var].Kind; kind != Var && (kind != Func || !t.object) {
			return fmt.Sprintf("variable %d is %s: expected a VAR", i, t.describe(v.Var))
		}
		end = uint64(v.Offset) + uint64(v.Size)
	}
	return ""
}

func (t *Table) declTagFault(x *Type) string {
	if why := t.rangeFault(x.Of, "it is on"); why != "" {
		return why
	}
	parts := 0
	switch of := &t.types[x.Of]; of.Kind {
	case Struct, Union:
		parts = len(of.Members)
	case Func:
		if why := t.funcFault(of); why != "" {
			return "it is on " + t.describe(x.Of) + ": " + why
		}
		parts = len(t.types[of.Of].Params)
	case Var, Typedef:
	default:
		return fmt.Sprintf("it is on %s: expected a structure, union, function, variable or typedef", t.describe(x.Of))
	}
	if x.Component < -1 || int(x.Component) >= parts {
		return fmt.Sprintf("it is on component %d of %s: expected -1, or one of its %d", x.Component, t.describe(x.Of), parts)
	}
	return ""
}
