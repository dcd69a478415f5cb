//go:build !tamago

package kthread

import "unsafe"

func self() unsafe.Pointer { return nil }

// labelsOf is for the caller alone: other goroutines do not exist for package kthread on the host.
func labelsOf(unsafe.Pointer) unsafe.Pointer { return getLabels() }

func now(unsafe.Pointer) (waits string, on int) { return "", -1 }
