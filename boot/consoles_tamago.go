//go:build tamago

package main

import (
	"sonde/boot/cmdline"
	"sonde/boot/handoff"
	"sonde/kernel/acpi"
	"sonde/kernel/console"
	"sonde/kernel/mm"
	"sonde/kernel/pci"
	"sonde/kernel/printk"
	"sonde/kernel/screen"
	"sonde/kernel/serial"
)

// The consoles. Until the command line has been read, the log goes to the first serial port. Then
// it goes to the consoles that the command line names, the last of which is the terminal, as on
// Linux. If it names none: to the screen and to one serial port, the one that firmware uses (SPCR),
// or otherwise the first existing one.

// usualBaud is the speed of ports that are named ttyS. One that is named by its address keeps its
// speed.
const usualBaud = 115200

// legacyPorts are the usual addresses of a PC's serial ports.
var legacyPorts = [...]serial.Port{
	{Name: "ttyS0", Base: 0x3f8, IRQ: 4, Minor: 0}, {Name: "ttyS1", Base: 0x2f8, IRQ: 3, Minor: 1},
	{Name: "ttyS2", Base: 0x3e8, IRQ: 4, Minor: 2}, {Name: "ttyS3", Base: 0x2e8, IRQ: 3, Minor: 3},
}

// pciNames are the names of ports on PCI, in the order in which they are found.
var pciNames = [...]string{"ttyS4", "ttyS5", "ttyS6", "ttyS7", "ttyS8", "ttyS9"}

// firstConsole makes the first legacy port a console, before anything is known about the machine.
func firstConsole() {
	usual := legacyPorts[0]
	usual.Baud = usualBaud
	console.Choose(console.Add(&usual)|console.Screen, 0)
}

// chooseConsoles opens the consoles that the command line names.
func chooseConsoles() {
	all, last := console.Set(0), console.Set(0)
	w := cmdline.Words{Rest: commandLine()}
	for i := 0; ; i++ {
		c, _, more := nextConsole(&w)
		if !more {
			break
		}
		if set := openConsole(c); set != 0 {
			all, last = all|set, set
		} else {
			absentConsoles |= 1 << i
		}
	}
	if all == 0 {
		all = console.Screen | defaultLine()
		last = all
	}
	console.Choose(all, last)
}

// absentConsoles has bit i set if the i-th console= names a console that does not exist.
var absentConsoles uint64

// nextConsole returns the next console= of the command line, and the word.
func nextConsole(w *cmdline.Words) (c cmdline.Console, word string, ok bool) {
	for {
		word, more := w.Next()
		if !more || word == "--" {
			return c, "", false
		}
		if key, value, _ := cmdline.Split(word); key == "console" {
			return cmdline.ParseConsole(value), word, true
		}
	}
}

// openConsole returns the console that c names; 0 if it does not exist.
func openConsole(c cmdline.Console) console.Set {
	p := serial.Port{Name: "uart0", Base: c.Addr, Baud: c.Baud, Stride: 1}
	switch c.Kind {
	case cmdline.Screen:
		if loader.Framebuffer.Drawable() {
			return console.Screen
		}
		return 0
	case cmdline.Serial:
		if c.Baud == 0 {
			c.Baud = usualBaud
		}
		return openLine(c.N, c.Baud)
	case cmdline.Ports:
		for i := range legacyPorts {
			if l := &legacyPorts[i]; l.Base == c.Addr {
				p.Name, p.IRQ, p.Minor = l.Name, l.IRQ, l.Minor
			}
		}
	case cmdline.Memory:
		p.Memory = true
	case cmdline.Memory32:
		p.Memory, p.Wide, p.Stride = true, true, 4
	default:
		return 0
	}
	return addLine(&p)
}

// openLine opens ttyS0 and so on: the four legacy ports, then those on PCI.
func openLine(n int, baud uint32) console.Set {
	if n < len(legacyPorts) {
		p := legacyPorts[n]
		p.Baud = baud
		return console.Add(&p)
	}
	p, ok := pciPort(n - len(legacyPorts))
	if !ok {
		return 0
	}
	p.Name, p.Minor, p.Baud = pciNames[n-len(legacyPorts)], uint8(n), baud
	return addLine(&p)
}

// defaultLine is the serial port to use if the command line names none.
func defaultLine() console.Set {
	if s := &acpiInfo.SPCR; s.Found {
		p := serial.Port{Name: "uart0", Base: s.Base.Addr, Memory: s.Base.Space == acpi.SpaceMemory, IRQ: s.IRQ, Baud: s.Baud, Stride: s.Stride()}
		p.Wide = p.Memory && p.Stride == 4
		for i := range legacyPorts {
			if l := &legacyPorts[i]; !p.Memory && l.Base == p.Base {
				p.Name, p.IRQ, p.Minor = l.Name, l.IRQ, l.Minor
			}
		}
		if set := addLine(&p); set != 0 {
			return set
		}
	}
	if set := openLine(0, usualBaud); set != 0 {
		return set
	}
	return openLine(len(legacyPorts), usualBaud)
}

// addLine opens a port that may be in memory: in one page, which boot's tables map, and not in
// memory that the loader's map calls RAM.
func addLine(p *serial.Port) console.Set {
	if p.Memory {
		n := uint64(p.Stride) * serial.Registers
		if p.Base >= bootMapped-n || p.Base%pageSize+n > pageSize || loader.TouchesRAM(handoff.Span{PA: p.Base, Len: n}) {
			return 0
		}
		p.At = directBase + uintptr(p.Base)
	}
	return console.Add(p)
}

// mapConsoles maps ports in memory in the kernel's tables, and moveConsoles switches to these
// mappings when the tables are in use.
func mapConsoles() {
	for i, p := range console.Lines() {
		if p.Memory {
			check(mm.Tables.Map(consoleBase+uint64(i)*pageSize, p.Base&^(pageSize-1), pageSize, dev), p.Base)
		}
	}
}

func moveConsoles() {
	for i := range console.Lines() {
		if p := &console.Lines()[i]; p.Memory {
			p.At = consoleBase + uintptr(i)*pageSize + uintptr(p.Base%pageSize)
		}
	}
}

// reportConsoles logs which consoles of the command line could not be opened, and an unused screen.
func reportConsoles() {
	if f := &loader.Framebuffer; f.Width != 0 && !screen.Main.On() {
		printk.Warn("screen: %d by %d, %d bits, kind %d: this format is not supported, so there is no output on the screen", f.Width, f.Height, f.Bits, uint8(f.Kind))
	}
	w := cmdline.Words{Rest: commandLine()}
	for i := 0; ; i++ {
		c, word, more := nextConsole(&w)
		if !more {
			return
		}
		switch {
		case absentConsoles>>i&1 == 0:
		case c.Kind == cmdline.Unknown:
			printk.Warn("%s: unknown console; give tty0, ttyS0 to ttyS9, or uart,io|mmio|mmio32,ADDRESS, with an optional speed of up to 115200", word)
		case c.Kind == cmdline.Screen:
			printk.Warn("%s: there is no screen", word)
		default:
			printk.Warn("%s: no serial port of the 16550 kind answers there, or there are more than %d", word, console.MaxLines)
		}
	}
}

const (
	serialClass = 0x0700
	last16550   = 6 // the interfaces of such a port up to this one are compatible
)

// pciPort finds serial port n on PCI: the first I/O or memory range of a function that is a serial
// port.
func pciPort(n int) (p serial.Port, ok bool) {
	for at, found := pci.Next(0); found; at, found = pci.Next(at + 1) {
		if class := at.Read(8); class>>16 == serialClass && class>>8&0xff <= last16550 {
			if n == 0 {
				return pciLine(at)
			}
			n--
		}
	}
	return p, false
}

// pciLine is the port of a function. Only AML would say which interrupt it uses.
func pciLine(at pci.Place) (p serial.Port, ok bool) {
	bar := at.Read(0x10)
	p = serial.Port{Base: uint64(bar &^ 3), Stride: 1}
	if bar&1 == 0 {
		p.Base, p.Memory = uint64(bar&^15), true
	}
	if p.Base == 0 {
		return p, false
	}
	at.Write(pci.CommandAt, at.Read(pci.CommandAt)&0xffff|pci.DecodeIO|pci.DecodeMemory)
	return p, true
}
