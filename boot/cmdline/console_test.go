package cmdline

import "testing"

func TestParseConsole(t *testing.T) {
	for value, want := range map[string]Console{
		"tty0":                          {Kind: Screen},
		"tty":                           {Kind: Screen},
		"ttyS0":                         {Kind: Serial},
		"ttyS1,115200":                  {Kind: Serial, N: 1, Baud: 115200},
		"ttyS4,9600n8r":                 {Kind: Serial, N: 4, Baud: 9600},
		"uart,io,0x2f8":                 {Kind: Ports, Addr: 0x2f8},
		"uart8250,io,0x3F8,57600n8":     {Kind: Ports, Addr: 0x3f8, Baud: 57600},
		"uart,mmio,0xfe03e000":          {Kind: Memory, Addr: 0xfe03e000},
		"uart,mmio32,0xfed0e000,115200": {Kind: Memory32, Addr: 0xfed0e000, Baud: 115200},
		"uart,io,760":                   {Kind: Ports, Addr: 760},
	} {
		if got := ParseConsole(value); got != want {
			t.Errorf("%s: %+v, want %+v", value, got, want)
		}
	}
	for _, value := range []string{"", "ttyS", "ttyS10", "ttySa", "tty2", "tty0,115200", "hvc0", "null", "uart", "uart,io", "uart,io,", "uart,io,0",
		"uart,io,0xffff", "uart,io,0x3f8x", "uart,foo,0x3f8", "ttyS0,115200e7", "ttyS0,0", "ttyS0,123", "ttyS0,fast", "uart,mmio,0xfffffffffffffffffff", ",", "0x"} {
		got := ParseConsole(value)
		if got.Kind != Unknown {
			t.Errorf("%q: %+v", value, got)
		}
	}
}
