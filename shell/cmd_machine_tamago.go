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
	{Name: "rdmsr", Usage: "REGISTER", Help: "read a model-specific register; numbers are hexadecimal", Run: reads(32, 0, nil, readMSR)},
	{Name: "wrmsr", Usage: "REGISTER VALUE", Help: "write a model-specific register; this may crash the kernel", Run: writes(32, 0, nil, writeMSR)},
	{Name: "cpuid", Usage: "[LEAF [SUBLEAF]]", Help: "print what CPUID returns: all leaves, or one", Run: cpuid},
	{Name: "inb", Usage: "PORT [1|2|4]", Help: "read an I/O port; numbers are hexadecimal", Run: reads(16, 1, portSizes, inPort)},
	{Name: "outb", Usage: "PORT VALUE [1|2|4]", Help: "write to an I/O port", Run: writes(16, 1, portSizes, outPort)},
	{Name: "peek", Usage: "ADDRESS [1|2|4|8]", Help: "read physical memory, uncached", Run: reads(64, 4, wordSizes, inspect.Peek)},
	{Name: "poke", Usage: "ADDRESS VALUE [1|2|4|8]", Help: "write physical memory, uncached; this may crash the kernel", Run: writes(64, 4, wordSizes, inspect.Poke)},
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

// reads is a command that prints what read returns of an address of so many bits.
func reads(bits, size int, sizes []int, read func(at uint64, size int) (uint64, error)) func(*Context, []string) error {
	return func(c *Context, args []string) error {
		n, size, err := numbers(args, bits, 1, size, sizes...)
		if err != nil {
			return err
		}
		v, err := read(n[0], size)
		if err == nil {
			_, err = fmt.Fprintf(c.Out, "%0*x\n", 2*size, v)
		}
		return err
	}
}

// writes is the same for what writes a number there.
func writes(bits, size int, sizes []int, write func(at uint64, size int, v uint64) error) func(*Context, []string) error {
	return func(_ *Context, args []string) error {
		n, size, err := numbers(args, bits, 2, size, sizes...)
		if err != nil {
			return err
		}
		return write(n[0], size, n[1])
	}
}

// The sizes of ports, and of words in memory.
var portSizes, wordSizes = []int{1, 2, 4}, []int{1, 2, 4, 8}

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

func inPort(port uint64, size int) (uint64, error) {
	switch size {
	case 1:
		return uint64(cpu.In8(uint16(port))), nil
	case 2:
		return uint64(cpu.In16(uint16(port))), nil
	}
	return uint64(cpu.In32(uint16(port))), nil
}

func outPort(port uint64, size int, v uint64) error {
	switch size {
	case 1:
		cpu.Out8(uint16(port), uint8(v))
	case 2:
		cpu.Out16(uint16(port), uint16(v))
	default:
		cpu.Out32(uint16(port), uint32(v))
	}
	return nil
}

func readMSR(register uint64, _ int) (uint64, error)  { return inspect.ReadMSR(uint32(register)) }
func writeMSR(register uint64, _ int, v uint64) error { return inspect.WriteMSR(uint32(register), v) }
