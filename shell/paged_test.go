package shell

import (
	"io"
	"strings"
	"testing"
)

// TestPaged: it waits after each full page, however the text is split into writes. A long line
// takes several rows.
func TestPaged(t *testing.T) {
	const want = "1\n2\n3\n|4\n12345→7890|12\nfive5\nend\n|"
	text := strings.ReplaceAll(want, "|", "")
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		p := &Paged{Out: &b, Rows: 3, Columns: 5, Wait: func() { b.WriteByte('|') }}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			for n < len(rest) && rest[n]&0xc0 == 0x80 {
				n++ // no character is split
			}
			if _, err := io.WriteString(p, rest[:n]); err != nil {
				t.Fatal(err)
			}
			rest = rest[n:]
		}
		if b.String() != want {
			t.Errorf("pieces of %d: %q, want %q", size, b.String(), want)
		}
	}
}
