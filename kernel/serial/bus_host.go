//go:build !tamago

package serial

// There are no I/O ports on the host: nothing answers.

func in8(uint16) uint8   { return absent }
func out8(uint16, uint8) {}
func pause()             {}
