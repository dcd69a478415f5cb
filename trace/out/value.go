package out

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sonde/trace/lang"
)

// value is a value as print shows it.
func (p *Printer) value(t lang.Type, data []byte) string {
	switch t.Kind {
	case lang.String:
		return cString(data[:t.Size()])
	case lang.Bytes:
		return escaped(content(t, data), `\x%02x`, true)
	case lang.TupleOf:
		if t.Format != "" {
			return p.variable(t, data)
		}
		return p.tuple(t, data)
	case lang.ProbeID:
		return p.probe(word(data), word(data[8:]))
	case lang.ArrayOf:
		return p.array(t, data)
	case lang.StructOf:
		return p.structure(t, data)
	case lang.Inet:
		return inet(data)
	case lang.Mac:
		return fmt.Sprintf("%02X:%02X:%02X:%02X:%02X:%02X", data[0], data[1], data[2], data[3], data[4], data[5])
	}
	return p.number(t, word(data))
}

// number is a value that is one number.
func (p *Printer) number(t lang.Type, n uint64) string {
	switch t.Kind {
	case lang.StackID:
		return p.stack(t, int64(n))
	case lang.Symbol:
		if t.Format == lang.CallName && p.Call != nil {
			return p.Call(n)
		}
		at := p.Symbols.Name(n, t.User)
		if !at.Function {
			return at.String()
		}
		return at.Name
	case lang.TimeText:
		return p.when(t.Format, time.Duration(n))
	case lang.Pointer:
		if t.Format != "" {
			return p.held(n)
		}
		return fmt.Sprintf("%#x", n)
	case lang.Bool:
		return strconv.FormatBool(n != 0)
	case lang.ErrorText:
		return errorText(n)
	case lang.UserName:
		if n == 0 {
			return "root"
		}
	}
	if t.Enum != nil {
		if name := t.Enum.Names[int64(n)]; name != "" {
			return name
		}
	}
	if t.Kind == lang.Int && !t.Signed {
		return strconv.FormatUint(n, 10)
	}
	return strconv.FormatInt(int64(n), 10)
}

// held is the type of what an interface of Go holds, by the interface's first word.
func (p *Printer) held(first uint64) string {
	if first == 0 {
		return "nil"
	}
	if p.Held != nil {
		if name := p.Held(first); name != "" {
			return name
		}
	}
	return fmt.Sprintf("%#x", first)
}

// variable names what is at an address: what a program has mapped there, or what the kernel keeps there.
func (p *Printer) variable(t lang.Type, data []byte) string {
	addr, more := word(data), word(data[8:])
	if t.Format == "umap" {
		return p.Symbols.Area(addr, int(more))
	}
	name := p.Symbols.Variable(addr, t.Elems[0].To.Name, p.Symbols.Stack(t.Elems[1], int64(more)))
	return strings.TrimSpace(fmt.Sprintf("%s %#x", name, addr))
}

func (p *Printer) tuple(t lang.Type, data []byte) string {
	texts, _ := p.values(t.Elems, data)
	if t.Names == nil {
		return "(" + strings.Join(texts, ", ") + ")"
	}
	for i, name := range t.Names {
		texts[i] = "." + name + " = " + texts[i]
	}
	return "{ " + strings.Join(texts, ", ") + " }"
}

// array prints what lies in memory as in C.
func (p *Printer) array(t lang.Type, data []byte) string {
	var parts []string
	for each := max(1, t.Elem.Bytes); t.Bytes >= each; t.Bytes -= each {
		parts, data = append(parts, p.packed(*t.Elem, data)), data[each:]
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (p *Printer) structure(t lang.Type, data []byte) string {
	var parts []string
	for _, f := range t.To.All() {
		parts = append(parts, "."+f.Name+" = "+p.field(f, data))
	}
	return "{ " + strings.Join(parts, ", ") + " }"
}

// field is the value of a field.
func (p *Printer) field(f lang.StructField, data []byte) string {
	if f.Bits > 0 {
		return strconv.FormatUint(packedNumber(f.Type, data[f.Offset:])>>f.Shift&(1<<f.Bits-1), 10)
	}
	return p.packed(f.Type, data[f.Offset:])
}

// packed prints a value of a structure or an array: it takes no more room than in C.
func (p *Printer) packed(t lang.Type, data []byte) string {
	switch t.Kind {
	case lang.Int, lang.Bool, lang.Pointer:
		return p.number(t, packedNumber(t, data))
	case lang.String:
		if t.Go { // its bytes are elsewhere
			return fmt.Sprintf("%#x", word(data))
		}
		return cString(data[:t.Bytes])
	}
	return p.value(t, append(append([]byte(nil), data[:t.Bytes]...), make([]byte, 8)...))
}

func packedNumber(t lang.Type, data []byte) (n uint64) {
	for i := t.Bytes - 1; i >= 0; i-- {
		n = n<<8 | uint64(data[i])
	}
	if unused := 64 - 8*t.Bytes; t.Signed && unused > 0 {
		n = uint64(int64(n<<unused) >> unused)
	}
	return n
}

// content is what a buffer holds.
func content(t lang.Type, data []byte) []byte {
	n := min(word(data), uint64(t.Bytes))
	return data[8 : 8+n]
}

// escaped prints bytes by a format, those that can be printed as they are if asked for.
func escaped(data []byte, format string, plain bool) string {
	var b strings.Builder
	for _, c := range data {
		if plain && c >= ' ' && c <= '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, format, c)
		}
	}
	return b.String()
}

func inet(data []byte) string {
	const inet6 = 10
	if word(data) == inet6 {
		return netip.AddrFrom16([16]byte(data[8:24])).String()
	}
	return netip.AddrFrom4([4]byte(data[8:12])).String()
}

// errorText is what Linux's programs call an error.
func errorText(n uint64) string {
	if n == 0 {
		return "Success"
	}
	text := syscall.Errno(n).Error()
	return strings.ToUpper(text[:1]) + text[1:]
}
