package machine

import (
	"errors"
	"os"
)

// killed is the exit code of a process that was ended from outside. QEMU has it for mistakes in its
// arguments, too; then it has ended by itself.
const killed = 1

// inherits is false: a program gets standard input and output, and no further files.
var inherits = false

func install(string) string {
	return "install it from https://www.qemu.org/download, and put its folder into PATH"
}

func socketPair() (ours, theirs *os.File, err error) {
	return nil, nil, errors.New("no file can be given to QEMU")
}
