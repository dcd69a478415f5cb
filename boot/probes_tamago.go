//go:build tamago

package main

import (
	"strings"
	"sync/atomic"

	"sonde/arch/amd64"
	"sonde/boot/cmdline"
	"sonde/kernel/attach"
	"sonde/kernel/die"
	"sonde/kernel/printk"
	"sonde/kprobes"
	"sonde/kwatch"
)

// Probes and watchpoints of the command line, to see what happens while devices are initialized:
// kprobe=PLACE, kwatch=[r@|w@|rw@|x@]PLACE (package attach). Each logs its first hits, with the
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
	at, err := attach.ParseSiteOf(place, attach.Kernel)
	if err != nil {
		return err
	}
	hits := new(atomic.Uint32)
	return kprobes.RegisterKprobe(&kprobes.Kprobe{
		SymbolName: at.Symbol, Offset: uintptr(at.Offset), Addr: uintptr(at.Addr),
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
	place := spec
	if !strings.Contains(place, "@") {
		place = "w@" + place
	}
	at, err := attach.ParseSiteOf(place, attach.Watch)
	if err != nil {
		return err
	}
	addr, length, err := kwatch.At(at)
	if err != nil {
		return err
	}
	hits := new(atomic.Uint32)
	_, err = kwatch.RegisterKwatch(addr, length, at.Access, func(h *kwatch.Hit, r *amd64.Regs) {
		if hits.Add(1) <= loggedHits {
			printk.Info("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
			die.DumpStack(r)
		}
		printk.Keep("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
	})
	return err
}
