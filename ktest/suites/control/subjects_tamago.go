//go:build tamago

package control

import (
	"reflect"
	"slices"
	"strings"

	"sonde/arch/amd64"
	"sonde/arch/amd64/insn"
	"sonde/kernel/text"
	"sonde/kprobes"
	"sonde/ktest/suites"
)

// What is probed.
//
//go:noinline
func one(a int) int { return a*3 + 1 }

//go:noinline
func two(a int) int { return a*5 + 2 }

//go:noinline
func three(a int) int { return a*7 + 3 }

var byName = map[string]any{"one": one, "two": two, "three": three}

// entry returns the address of a function's code.
func entry(f any) uintptr { return reflect.ValueOf(f).Pointer() }

// second returns the offset of its second instruction.
func second(t *suites.T, f any) uintptr {
	in, err := insn.Decode(text.Bytes(entry(f), insn.MaxLen))
	t.Must(err)
	return uintptr(in.Len)
}

func kprobeOn(f any) *kprobes.Kprobe {
	return &kprobes.Kprobe{Addr: entry(f), PreHandler: func(*kprobes.Kprobe, *amd64.Regs) int { return 0 }}
}

func returnOf(f any) *kprobes.Kretprobe {
	return &kprobes.Kretprobe{KP: kprobes.Kprobe{Addr: entry(f)},
		Handler: func(*kprobes.KretprobeInstance, *amd64.Regs) int { return 0 }}
}

func onOne() *kprobes.Kprobe            { return kprobeOn(one) }
func onTwo() *kprobes.Kprobe            { return kprobeOn(two) }
func returnOfTwo() *kprobes.Kretprobe   { return returnOf(two) }
func returnOfThree() *kprobes.Kretprobe { return returnOf(three) }

func jumperOnThree() *kprobes.Jprobe {
	return kprobes.NewJprobe(three, func(int) int { kprobes.JprobeReturn(); return 0 })
}

// textOf returns what a control file says, without its newline.
func textOf(t *suites.T, name string) string { return strings.Join(read(t, name), "\n") }

func sorted(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return list
}
