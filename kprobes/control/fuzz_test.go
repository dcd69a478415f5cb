package control

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
	"sonde/kprobes"
)

// FuzzEnabled: the file takes what Linux takes of a bool; any other text is refused and changes
// nothing.
func FuzzEnabled(f *testing.F) {
	for _, text := range []string{"0", "1\n", "y", " N ", "", "01", "yes", "\x00", "1\n0"} {
		f.Add(text)
	}
	tree := vfs.New()
	if err := Mount(tree, "/d"); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { kprobes.SetEnabled(true) })
	f.Fuzz(func(t *testing.T, text string) {
		before := kprobes.Enabled()
		file, err := tree.OpenFile("/d/enabled", vfs.O_WRONLY)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		_, err = vfs.Write(file, []byte(text))
		want, ok := before, true
		switch strings.TrimSpace(text) {
		case "1", "y", "Y":
			want = true
		case "0", "n", "N":
			want = false
		default:
			ok = false
		}
		if kprobes.Enabled() != want || ok != (err == nil) || !ok && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v, and it is %t; it was %t", text, err, kprobes.Enabled(), before)
		}
	})
}
