package btf

import (
	"fmt"
	"strings"
)

// Limits of what is printed: types that are valid can still have text without end.
const (
	maxText   = 64 << 10 // bytes, about
	maxNested = 16       // of types in the text of a type
	maxLinks  = 64       // pointers, arrays and qualifiers around one name
)

// tooDeep stands for what is left out.
const tooDeep = "/* ... */"

// printer makes the text of one type.
type printer struct {
	table *Table
	used  int // bytes
}

// Text returns a type as C declares it: the whole of a structure, union or enumeration, and one
// line of all others. What exceeds 64 KiB, or 16 levels of anonymous types, is "/* ... */".
func (t *Table) Text(id ID) string {
	p := printer{table: t}
	x := t.Type(id)
	if x == nil {
		return fmt.Sprintf("/* no type %d */", id)
	}
	switch x.Kind {
	case Struct, Union, Enum, Enum64:
		return p.body(x, "", 0) + ";"
	case Fwd:
		return p.base(id, "", 0) + ";"
	case Typedef:
		return "typedef " + p.declare(x.Of, x.Name, "", 0) + ";"
	case Func:
		return linkages[x.Linkage] + p.declare(x.Of, x.Name, "", 0) + ";"
	case Var:
		return linkages[x.Linkage] + p.declare(x.Of, x.Name, "", 0) + ";"
	case Datasec:
		return p.section(x)
	case DeclTag:
		return fmt.Sprintf("/* %q on component %d of %s */", x.Name, x.Component, t.describe(x.Of))
	}
	return p.declare(id, "", "", 0)
}

var linkages = map[Linkage]string{Static: "static ", Extern: "extern "}

var qualifiers = map[Kind]string{Const: "const ", Volatile: "volatile ", Restrict: "restrict "}

// full tells whether no more is to be printed.
func (p *printer) full(nested int) bool { return p.used > maxText || nested > maxNested }

// count adds to what has been printed.
func (p *printer) count(s string) string {
	p.used += len(s)
	return s
}

// declare goes from a type to the name in it: around inner, the name, come pointers, arrays and
// parameters. Qualifiers are those of the type that comes next.
func (p *printer) declare(id ID, inner, indent string, nested int) string {
	before := ""
	for range maxLinks {
		if p.full(nested) {
			break
		}
		switch x := &p.table.types[id]; x.Kind {
		case Const, Volatile, Restrict:
			before += qualifiers[x.Kind]
		case TypeTag:
			before += fmt.Sprintf("__attribute__((btf_type_tag(%q))) ", x.Name)
		case Ptr:
			inner, before = strings.TrimSuffix("*"+before+inner, " "), ""
		case Array:
			inner = fmt.Sprintf("%s[%d]", group(inner), x.Count)
		case FuncProto:
			inner, before = group(inner)+p.params(x, nested+1), ""
		default:
			base := before + p.base(id, indent, nested)
			if inner == "" {
				return p.count(base)
			}
			return p.count(base + " " + inner)
		}
		id = p.table.types[id].Of
	}
	return p.count(tooDeep + " " + inner)
}

// group puts a pointer into parentheses, since [] and () bind tighter than *.
func group(inner string) string {
	if strings.HasPrefix(inner, "*") {
		return "(" + inner + ")"
	}
	return inner
}

// params returns the list of parameters.
func (p *printer) params(x *Type, nested int) string {
	if len(x.Params) == 0 {
		return "(void)"
	}
	all := make([]string, 0, 8)
	for _, param := range x.Params {
		switch {
		case p.full(nested):
			return "(" + strings.Join(append(all, tooDeep), ", ") + ")"
		case param.Type == 0:
			all = append(all, "...")
		default:
			all = append(all, p.declare(param.Type, param.Name, "", nested))
		}
	}
	return "(" + strings.Join(all, ", ") + ")"
}

// base returns the type at the end of a chain: its name, or its body if it has none.
func (p *printer) base(id ID, indent string, nested int) string {
	x := &p.table.types[id]
	word := ""
	switch x.Kind {
	case Void:
		return "void"
	case Struct, Union, Enum, Enum64:
		if x.Name == "" {
			return p.body(x, indent, nested+1)
		}
		word = keyword(x) + " "
	case Fwd:
		word = keyword(x) + " "
	}
	if x.Name == "" {
		return fmt.Sprintf("/* type %d */", id)
	}
	return word + x.Name
}

func keyword(x *Type) string {
	switch {
	case x.Kind == Enum || x.Kind == Enum64:
		return "enum"
	case x.Kind == Union || x.Kind == Fwd && x.Flag:
		return "union"
	}
	return "struct"
}

// body returns a structure, union or enumeration with all that it has, a line for each.
func (p *printer) body(x *Type, indent string, nested int) string {
	head := keyword(x)
	if x.Name != "" {
		head += " " + x.Name
	}
	var b strings.Builder
	b.WriteString(p.count(head + " {\n"))
	for i := range len(x.Members) + len(x.Values) {
		if p.full(nested) {
			b.WriteString(indent + "\t" + tooDeep + "\n")
			break
		}
		if i < len(x.Members) {
			b.WriteString(indent + "\t" + p.member(&x.Members[i], indent+"\t", nested) + ";\n")
		} else {
			b.WriteString(p.count(indent + "\t" + x.value(&x.Values[i]) + ",\n"))
		}
	}
	return b.String() + p.count(indent+"}")
}

func (p *printer) member(m *Member, indent string, nested int) string {
	s := p.declare(m.Type, m.Name, indent, nested)
	if m.Bits != 0 {
		s += fmt.Sprintf(":%d", m.Bits)
	}
	return s
}

func (x *Type) value(v *Value) string {
	if x.Flag {
		return fmt.Sprintf("%s = %d", v.Name, int64(v.Number))
	}
	return fmt.Sprintf("%s = %d", v.Name, v.Number)
}

// section lists the variables of a section with their places.
func (p *printer) section(x *Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/* section %s, %d bytes */", x.Name, x.Size)
	for _, v := range x.Variables {
		if p.full(0) {
			b.WriteString("\n" + tooDeep)
			break
		}
		of := &p.table.types[v.Var]
		b.WriteString("\n" + p.declare(of.Of, of.Name, "", 0) + fmt.Sprintf("; /* %d bytes at %d */", v.Size, v.Offset))
	}
	return b.String()
}
