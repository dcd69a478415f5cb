//go:build tamago

package serial

import "sonde/kernel/cpu"

//go:nosplit
func in8(port uint16) uint8 { return cpu.In8(port) }

//go:nosplit
func out8(port uint16, v uint8) { cpu.Out8(port, v) }

//go:nosplit
func pause() { cpu.Pause() }
