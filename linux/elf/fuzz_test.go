package elf

import (
	"errors"
	"syscall"
	"testing"
)

// FuzzLoad: whatever the program and its interpreter hold, there is an answer with an errno, and
// nothing is left.
func FuzzLoad(f *testing.F) {
	interpreted := pie()
	interpreted.interp = "/lib/ld.so"
	for _, p := range []program{usual(), pie(), interpreted} {
		f.Add(p.build(), pie().build())
	}
	f.Add([]byte("#!/lib/ld.so x\n"), usual().build())
	f.Fuzz(func(t *testing.T, file, interpreter []byte) {
		m := newMachine()
		m.add("/a", file)
		m.add("/lib/ld.so", interpreter)
		s, p, err := m.start(t, "/a", "a")
		var errno syscall.Errno
		if err != nil && !errors.As(err, &errno) {
			t.Errorf("%v has no errno", err)
		} else if err == nil {
			checkLoaded(t, m, s, p, 0)
		}
		m.end(t, s)
		for _, f := range m.files {
			f.close()
		}
	})
}
