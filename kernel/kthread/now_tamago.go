//go:build tamago

package kthread

import (
	"unsafe"

	"sonde/kernel/cpu"
	"sonde/kernel/goruntime"
)

// self is the goroutine that calls it.
func self() unsafe.Pointer { return goruntime.Self() }

// labelsOf is what goroutine g carries.
func labelsOf(g unsafe.Pointer) unsafe.Pointer { return goruntime.Labels(g) }

// now says what a goroutine waits for, "" if it runs or wants to, and on which CPU it runs; -1: on none.
func now(g unsafe.Pointer) (waits string, on int) {
	for i := range cpu.Num() {
		if running, _ := goruntime.Running(i); running == g {
			return "", i
		}
	}
	_, waits = goruntime.Goroutine(g)
	return waits, -1
}
