//go:build !tamago

package kprobes

import "syscall"

// What changes code is there on the machine only, in files *_tamago.go and *_trap.go.
// Here are its signatures for tools on the host: go doc, editors, go vet of the
// examples. All of it fails.

var errHost = refuse(syscall.ENOSYS, "kprobes: there is no kernel here to be probed")

// RegisterKprobe sets k on its instruction and arms it.
func RegisterKprobe(k *Kprobe) error { return errHost }

// RegisterKprobes registers each of ks, or none.
func RegisterKprobes(ks []*Kprobe) error { return errHost }

// UnregisterKprobe removes k. When it returns no CPU is in a handler of k's.
func UnregisterKprobe(k *Kprobe) {}

// UnregisterKprobes is UnregisterKprobe for each of ks at once.
func UnregisterKprobes(ks []*Kprobe) {}

// EnableKprobe undoes DisableKprobe.
func EnableKprobe(k *Kprobe) error { return errHost }

// DisableKprobe stops k's handlers from being called until EnableKprobe.
func DisableKprobe(k *Kprobe) error { return errHost }

// RegisterKretprobe establishes rp on its function.
func RegisterKretprobe(rp *Kretprobe) error { return errHost }

// RegisterKretprobes registers each of rps, or none.
func RegisterKretprobes(rps []*Kretprobe) error { return errHost }

// UnregisterKretprobe removes rp. Calls in flight return as if it had not been.
func UnregisterKretprobe(rp *Kretprobe) {}

// UnregisterKretprobes is UnregisterKretprobe for each of rps at once.
func UnregisterKretprobes(rps []*Kretprobe) {}

// EnableKretprobe undoes DisableKretprobe.
func EnableKretprobe(rp *Kretprobe) error { return errHost }

// DisableKretprobe is DisableKprobe for return probes.
func DisableKretprobe(rp *Kretprobe) error { return errHost }

// RegisterJprobe sets j on its function.
func RegisterJprobe(j *Jprobe) error { return errHost }

// RegisterJprobes registers each of js, or none.
func RegisterJprobes(js []*Jprobe) error { return errHost }

// UnregisterJprobe removes j.
func UnregisterJprobe(j *Jprobe) {}

// UnregisterJprobes is UnregisterJprobe for each of js at once.
func UnregisterJprobes(js []*Jprobe) {}

// EnableJprobe undoes DisableJprobe.
func EnableJprobe(j *Jprobe) error { return errHost }

// DisableJprobe is DisableKprobe for jprobes.
func DisableJprobe(j *Jprobe) error { return errHost }

// JprobeReturn ends a jprobe handler. It does not return.
func JprobeReturn() { panic(errHost) }

// NoKprobe marks a function as one that may not be probed. Write it next to the
// function:
//
//	var _ = kprobes.NoKprobe("sonde/kernel/foo.bar")
func NoKprobe(name string) bool { return true }
