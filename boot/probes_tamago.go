//go:build tamago && !noprobe

package main

import (
	"strings"
	"sync/atomic"

	"sonde/boot/cmdline"
	"sonde/kernel/die"
	"sonde/kernel/printk"
	"sonde/probe/attach"
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

// armKprobe logs the registers at each hit of a place in the kernel. The handlers call printk by name:
// through a variable, its arguments would be allocated.
func armKprobe(place string) error {
	hits := new(atomic.Uint32)
	return arm("kprobe", place, func(h *attach.Hit) {
		r := h.Regs
		if hits.Add(1) <= loggedHits {
			printk.Info("kprobe=%s: ax=%x bx=%x cx=%x di=%x si=%x", place, r.AX, r.BX, r.CX, r.DI, r.SI)
			die.DumpStack(r)
		}
		printk.Keep("kprobe=%s: ax=%x bx=%x cx=%x di=%x si=%x", place, r.AX, r.BX, r.CX, r.DI, r.SI)
	}, attach.Kernel, attach.Line, attach.Inline)
}

// armKwatch logs the values at each access of data in the kernel.
func armKwatch(spec string) error {
	place := spec
	if !strings.Contains(place, "@") {
		place = "w@" + place
	}
	hits := new(atomic.Uint32)
	return arm("kwatch", place, func(h *attach.Hit) {
		if hits.Add(1) <= loggedHits {
			printk.Info("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
			die.DumpStack(h.Regs)
		}
		printk.Keep("kwatch=%s: %x -> %x, ip=%x", spec, h.Old, h.New, h.IP)
	}, attach.Watch)
}

// arm attaches to a place of one of these kinds.
func arm(key, place string, f attach.Handler, kinds ...attach.Kind) error {
	site, err := attach.ParseSiteOf(place, kinds...)
	if err != nil {
		return err
	}
	l, err := attach.Attach([]attach.Site{site}, f, nil)
	if err == nil && l.Summary() != "" {
		printk.Info("%s=%s: %s", key, place, l.Summary())
	}
	return err
}
