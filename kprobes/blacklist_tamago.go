//go:build tamago

package kprobes

import (
	"sync"

	"sonde/kallsyms"
	"sonde/kernel/printk"
	"sonde/kprobes/reach"
)

// A breakpoint in the code that handles breakpoints would never end. What that
// code is, is computed from the calls in the image (package reach).

// image is the calls in the image. Asking it anything takes no lock of ours.
var image = sync.OnceValue(func() *reach.Graph {
	return reach.New(kallsyms.Kernel(), func(addr, n uint64) []byte { return original(uintptr(addr), uintptr(n)) })
})

// noKprobe are the functions marked with NoKprobe, by name.
var noKprobe []string

// NoKprobe marks a function as one that may not be probed, as Linux's
// NOKPROBE_SYMBOL does. Write it next to the function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
//
// A name that no function has, because it is mistyped or the function inlined, is
// reported when the first probe is registered.
//
// Context: package initialization.
func NoKprobe(name string) bool {
	noKprobe = append(noKprobe, name)
	return true
}

var blacklist = sync.OnceValue(func() map[uint64]string {
	for _, err := range Unprotected() {
		printk.Warn("kprobes: not protected: %s", err.Error())
	}
	return image().Blacklist(noKprobe)
})

// Unprotected returns an error for each name that is to keep probes away, whether
// marked with NoKprobe or in package reach, and that no function has.
//
// Context: goroutine.
func Unprotected() []error { return image().Check(noKprobe) }

// blacklisted returns why fn may not be probed, "" if it may.
func blacklisted(fn symbol) string { return blacklist()[fn.Addr] }

// Blacklisted returns every function that may not be probed with the reason, which
// names the calls by which a trap comes to it.
//
// Context: goroutine.
func Blacklisted() map[uint64]string { return blacklist() }

// switchesStacks returns why a return probe on fn cannot work, "" if it can.
func switchesStacks(fn symbol) string { return image().SwitchesStacks(fn.Addr) }
