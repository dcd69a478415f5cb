package cmdline

// Kind is the way in which console= names a console.
type Kind uint8

const (
	Unknown  Kind = iota
	Screen        // tty0
	Serial        // ttyS0, ttyS1 and so on: N
	Ports         // the I/O port at Addr
	Memory        // the registers at Addr, of one byte each
	Memory32      // the same with 32 bits each
)

// Console is the console that a word console=… asks for.
type Console struct {
	Kind Kind
	N    int
	Addr uint64
	Baud uint32 // 0: none is given
}

// ParseConsole reads the value of console=. If it is invalid, the kind is Unknown. It is tty0, or
// ttyS0 and so on with an optional speed ("ttyS0,115200n8"), or a port by its address
// ("uart,io,0x3f8,115200", "uart,mmio,0xfe000000", "uart,mmio32,…").
//
// Source: Linux, Documentation/admin-guide/kernel-parameters.txt, "console=".
func ParseConsole(value string) (c Console) {
	name, options := cut(value)
	kind := Unknown
	switch {
	case name == "tty" || name == "tty0" || name == "tty1":
		if options == "" {
			c.Kind = Screen
		}
		return c
	case len(name) == 5 && name[:4] == "ttyS" && name[4] >= '0' && name[4] <= '9':
		kind, c.N = Serial, int(name[4]-'0')
	case name == "uart" || name == "uart8250":
		var where, addr string
		where, options = cut(options)
		addr, options = cut(options)
		switch where {
		case "io":
			kind = Ports
		case "mmio":
			kind = Memory
		case "mmio32":
			kind = Memory32
		}
		n, rest := number(addr)
		if rest != "" || n == 0 || kind == Ports && n > 0xfff8 {
			return c
		}
		c.Addr = n
	}
	ok := true
	if options != "" {
		c.Baud, ok = baud(options)
	}
	if ok {
		c.Kind = kind
	}
	return c
}

// baud reads a speed, with the supported parity, bits and flow control after it: 115200, 115200n8,
// 115200n8r.
func baud(s string) (uint32, bool) {
	n, rest := number(s)
	const most = 115200
	if n < 50 || n > most || most%n != 0 {
		return 0, false
	}
	return uint32(n), rest == "" || rest == "n" || rest == "n8" || rest == "n8r"
}

// cut splits s at its first comma.
func cut(s string) (before, behind string) {
	for i := 0; i < len(s); i++ {
		if s[i] == ',' {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// number reads a number in decimal or, with 0x, hexadecimal, and returns the rest of s.
func number(s string) (n uint64, rest string) {
	base, digits := uint64(10), s
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' {
		base, digits = 16, s[2:]
	}
	for ; digits != ""; digits = digits[1:] {
		c := digits[0]
		d := uint64(99)
		switch {
		case c >= '0' && c <= '9':
			d = uint64(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			d = uint64(c|0x20-'a') + 10
		}
		if d >= base || n > 1<<58 {
			break
		}
		n = n*base + d
	}
	return n, digits
}
