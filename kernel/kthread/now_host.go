//go:build !tamago

package kthread

import "unsafe"

func self() unsafe.Pointer { return nil }

func now(unsafe.Pointer) (waits string, on int) { return "", -1 }
