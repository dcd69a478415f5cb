//go:build !tamago

package event

import (
	"unsafe"

	"sonde/probe/attach"
)

// For tests of the table on the host.

const maxCPUs = 1

func cpuOf(*attach.Hit) int                              { return 0 }
func timeOf(*attach.Hit) int64                           { return 0 }
func goroutine(*attach.Hit) unsafe.Pointer               { return nil }
func ended(unsafe.Pointer) bool                          { return false }
func goid(unsafe.Pointer) uint64                         { return 0 }
func threadOf(unsafe.Pointer) unsafe.Pointer             { return nil }
func nameOf(unsafe.Pointer) string                       { return "" }
func waits(unsafe.Pointer) string                        { return "select" }
func stackOf(unsafe.Pointer) (lo, hi uintptr)            { return 0, 0 }
func runs(unsafe.Pointer) bool                           { return false }
func collections() uint32                                { return 0 }
func interrupt(*point, *attach.Hit) (n int, name string) { return 4, "serial" }
func noteVector(*attach.Hit) bool                        { return true }
