//go:build tamago

package load

import (
	"fmt"
	"strings"

	"sonde/kernel/vfs"
)

// file reports the lines of a file that a program has written: PATH.
func file(args []string) error {
	text, err := vfs.ReadFile(args[0])
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		report(fmt.Sprintf("line%d", n), "%s", strings.TrimSuffix(line, "\n"))
	}
	report("lines", "%d", n)
	return nil
}
