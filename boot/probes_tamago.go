//go:build tamago

package main

import (
	"strconv"
	"strings"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/boot/cmdline"
	"sonde/kernel/die"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/kwatch"
)

// Probes and watchpoints of the command line, to see what happens while devices are initialized:
// kprobe=SYMBOL[+OFFSET], kwatch=[r@|w@|rw@|x@]SYMBOL[+OFFSET]. Each logs its first hits, with the
// stack; the last ones are kept for the next boot (kernel/flight).

// loggedHits is how many hits each one logs.
const loggedHits = 20

// armProbes arms them. A mistake is logged, and the boot continues.
func armProbes() {
	for words := (cmdline.Words{Rest: commandLine()}); ; {
		word, more := words.Next()
		if !more || word == "--" {
			return
		}
		var err error
		switch key, value, _ := cmdline.Split(word); key {
		case "kprobe":
			err = armKprobe(value)
		case "kwatch":
			err = armKwatch(value)
		}
		if err != nil {
			printk.Err("%s: %s", word, err.Error())
		}
	}
}

func armKprobe(place string) error {
	hits := new(atomic.Uint32)
	name, offset := splitPlace(place)
	return kprobes.RegisterKprobe(&kprobes.Kprobe{
		SymbolName: name, Offset: uintptr(offset),
		PreHandler: func(_ *kprobes.Kprobe, r *amd64.Regs) int {
			if hits.Add(1) <= loggedHits {
				printk.Info("kprobe=%s: ax=%x bx=%x cx=%x di=%x si=%x", place, r.AX, r.BX, r.CX, r.DI, r.SI)
				die.DumpStack(r)
			}
			printk.Keep("kprobe=%s: ax=%x bx=%x cx=%x di=%x si=%x", place, r.AX, r.BX, r.CX, r.DI, r.SI)
			return 0
		},
	})
}

func armKwatch(spec string) error {
	typ, place := kwatch.Write, spec
	if kind, rest, ok := strings.Cut(spec, "@"); ok {
		if t, known := kwatch.ParseType(kind); known {
			typ, place = t, rest
		}
	}
	hits := new(atomic.Uint32)
	name, offset := splitPlace(place)
	_, err := kwatch.RegisterKwatchSymbol(name, uintptr(offset), 0, typ, func(h *kwatch.Hit, r *amd64.Regs) {
		if hits.Add(1) <= loggedHits {
			printk.Info("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
			die.DumpStack(r)
		}
		printk.Keep("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
	})
	return err
}

// splitPlace cuts SYMBOL+OFFSET in two.
func splitPlace(place string) (symbol string, offset uint64) {
	if at := strings.LastIndexByte(place, '+'); at > 0 {
		if n, err := strconv.ParseUint(place[at+1:], 0, 32); err == nil {
			return place[:at], n
		}
	}
	return place, 0
}
