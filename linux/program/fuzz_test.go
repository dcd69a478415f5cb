package program

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
)

// FuzzOpen: whatever a program's file holds, there is an answer.
func FuzzOpen(f *testing.F) {
	f.Add([]byte("\x7fELF\x02\x01\x01"))
	for _, path := range []string{"/bin/true", "/bin/echo"} { // some 40 KiB, stripped
		if b, err := os.ReadFile(path); err == nil && len(b) < 1<<16 {
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		p, err := Open(bytes.NewReader(file))
		switch {
		case err == nil:
			p.ask(rand.New(rand.NewPCG(1, 2)))
		case !errors.Is(err, syscall.ENOEXEC):
			t.Error(err)
		}
	})
}
