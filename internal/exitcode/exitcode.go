// Package exitcode has the numbers by which the kernel tells the launcher on the host how a
// run ended. Both import it.
//
// The kernel writes a 32-bit value to I/O port Port. QEMU's isa-debug-exit device then ends
// QEMU with the exit code Process(value); only seven bits of the value survive.
package exitcode

const (
	// Port is where QEMU's isa-debug-exit device listens.
	Port = 0xf4
	// OutPort takes the standard output of a script, byte by byte (QEMU's
	// isa-debugcon device). Reading it returns OutPort where there is one.
	OutPort = 0xe9

	// Crash is the value for a fatal end of the kernel.
	Crash = 0x10
	// Script plus a status of 0…MaxStatus is the value for the end of a script.
	Script = 0x20
	// MaxStatus is the greatest status that fits. Greater ones become
	// MaxStatus, except for the two that shells give a meaning.
	MaxStatus = 63
)

// The values for a shell's "cannot be executed" and "not found".
const (
	notExecutable = 0x1e
	notFound      = 0x1f
)

// ForScript returns the value to write when a script ends with status.
func ForScript(status int) uint32 {
	switch {
	case status == 126:
		return notExecutable
	case status == 127:
		return notFound
	case status < 0 || status > MaxStatus:
		return Script + MaxStatus
	}
	return uint32(Script + status)
}

// Status returns the status of the script that ended with value; not ok if
// value says something else.
func Status(value uint32) (status int, ok bool) {
	switch {
	case value == notExecutable:
		return 126, true
	case value == notFound:
		return 127, true
	case value >= Script && value <= Script+MaxStatus:
		return int(value - Script), true
	}
	return 0, false
}

// Process returns the exit code of QEMU when the guest writes value.
func Process(value uint32) int { return int(value<<1|1) & 0xff }

// Value returns the value the guest wrote to make QEMU exit with code. QEMU's
// own exit codes, 0 and 1, come from no value the kernel writes.
func Value(code int) (value uint32, ok bool) {
	if code&1 == 0 || code <= 1 || code > 0xff {
		return 0, false
	}
	return uint32(code >> 1), true
}
