//go:build tamago

package shell

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"sonde/kernel/cpu"
	"sonde/kernel/inspect"
)

// Commands that read and change the machine, for bringing up an unknown board.
var machineCommands = []*Command{
	lspciCommand,
	{Name: "rdmsr", Usage: "REGISTER", Help: "read a model-specific register; numbers are hexadecimal", Run: rdmsr},
	{Name: "wrmsr", Usage: "REGISTER VALUE", Help: "write a model-specific register; this may crash the kernel", Run: wrmsr},
	{Name: "cpuid", Usage: "[LEAF [SUBLEAF]]", Help: "print what CPUID returns: all leaves, or one", Run: cpuid},
	{Name: "inb", Usage: "PORT [1|2|4]", Help: "read an I/O port; numbers are hexadecimal", Run: inb},
	{Name: "outb", Usage: "PORT VALUE [1|2|4]", Help: "write to an I/O port", Run: outb},
	{Name: "peek", Usage: "ADDRESS [1|2|4|8]", Help: "read physical memory, uncached", Run: peek},
	{Name: "poke", Usage: "ADDRESS VALUE [1|2|4|8]", Help: "write physical memory, uncached; this may crash the kernel", Run: poke},
}

// numbers reads at least that many arguments, all in hexadecimal except the last optional one,
// which is a size. The first one has at most that many bits.
func numbers(args []string, bits, least int, size int, sizes ...int) (n []uint64, _ int, err error) {
	if len(args) < least || len(args) > least+min(len(sizes), 1) {
		return nil, 0, Usagef("wrong number of arguments: %d", len(args))
	}
	for i, a := range args {
		if i == least {
			size, err = strconv.Atoi(a)
			if err == nil && slices.Contains(sizes, size) {
				return n, size, nil
			}
			return nil, 0, Usagef("%q is not a size in bytes: give one of %s", a, strings.Trim(fmt.Sprint(sizes), "[]"))
		}
		if i > 0 {
			bits = 64
		}
		v, err := strconv.ParseUint(strings.TrimPrefix(a, "0x"), 16, bits)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return nil, 0, Usagef("%s is too large: it may have %d bits", a, bits)
		case err != nil:
			return nil, 0, Usagef("%q is not a hexadecimal number", a)
		}
		n = append(n, v)
	}
	return n, size, nil
}

func rdmsr(c *Context, args []string) error {
	n, _, err := numbers(args, 32, 1, 0)
	if err != nil {
		return err
	}
	v, err := inspect.ReadMSR(uint32(n[0]))
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%x\n", v)
	}
	return err
}

func wrmsr(c *Context, args []string) error {
	n, _, err := numbers(args, 32, 2, 0)
	if err != nil {
		return err
	}
	return inspect.WriteMSR(uint32(n[0]), n[1])
}

func cpuid(c *Context, args []string) error {
	show := func(leaf, sub uint32) {
		a, b, cx, d := cpu.CPUID(leaf, sub)
		fmt.Fprintf(c.Out, "%08x %02x: eax=%08x ebx=%08x ecx=%08x edx=%08x\n", leaf, sub, a, b, cx, d)
	}
	if len(args) == 0 {
		for _, first := range []uint32{0, 0x8000_0000} {
			last, _, _, _ := cpu.CPUID(first, 0)
			for leaf := first; leaf <= min(last, first+0xff); leaf++ {
				show(leaf, 0)
			}
		}
		return nil
	}
	if len(args) > 2 {
		return Usagef("give a leaf, or a leaf and a subleaf")
	}
	n, _, err := numbers(args, 32, len(args), 0)
	if err != nil {
		return err
	}
	show(uint32(n[0]), uint32(append(n, 0)[1]))
	return nil
}

func inb(c *Context, args []string) error {
	n, size, err := numbers(args, 16, 1, 1, 1, 2, 4)
	if err != nil {
		return err
	}
	v := uint32(0)
	switch port := uint16(n[0]); size {
	case 1:
		v = uint32(cpu.In8(port))
	case 2:
		v = uint32(cpu.In16(port))
	case 4:
		v = cpu.In32(port)
	}
	_, err = fmt.Fprintf(c.Out, "%0*x\n", 2*size, v)
	return err
}

func outb(c *Context, args []string) error {
	n, size, err := numbers(args, 16, 2, 1, 1, 2, 4)
	if err != nil {
		return err
	}
	switch port := uint16(n[0]); size {
	case 1:
		cpu.Out8(port, uint8(n[1]))
	case 2:
		cpu.Out16(port, uint16(n[1]))
	case 4:
		cpu.Out32(port, uint32(n[1]))
	}
	return nil
}

func peek(c *Context, args []string) error {
	n, size, err := numbers(args, 64, 1, 4, 1, 2, 4, 8)
	if err != nil {
		return err
	}
	v, err := inspect.Peek(n[0], size)
	if err == nil {
		_, err = fmt.Fprintf(c.Out, "%0*x\n", 2*size, v)
	}
	return err
}

func poke(c *Context, args []string) error {
	n, size, err := numbers(args, 64, 2, 4, 1, 2, 4, 8)
	if err != nil {
		return err
	}
	return inspect.Poke(n[0], size, n[1])
}
