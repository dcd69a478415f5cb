package tables

import (
	"bufio"
	"fmt"
	"io"
)

// Dump prints a table as acpidump does, in the form that acpixtract and iasl take.
func (t Table) Dump(w io.Writer) error {
	const perLine = 16
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s @ 0x%016X\n", t.Signature, t.Addr)
	for at := 0; at < len(t.Data); at += perLine {
		line := t.Data[at:min(at+perLine, len(t.Data))]
		fmt.Fprintf(b, "    %04X: ", at)
		for i := range perLine {
			if i < len(line) {
				fmt.Fprintf(b, "%02X ", line[i])
			} else {
				b.WriteString("   ")
			}
		}
		b.WriteByte(' ')
		for _, c := range line {
			if c < ' ' || c > '~' {
				c = '.'
			}
			b.WriteByte(c)
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	return b.Flush()
}
