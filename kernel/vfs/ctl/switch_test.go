package ctl

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

// FuzzSwitch: the file takes what Linux takes of a bool; any other text is refused and changes
// nothing.
func FuzzSwitch(f *testing.F) {
	for _, text := range []string{"0", "1\n", "y", " N ", "", "01", "yes", "\x00", "1\n0"} {
		f.Add(text)
	}
	is := false
	tree := vfs.New()
	if err := tree.BindAll("/d", map[string]vfs.Node{"enabled": Switch(func() bool { return is }, func(on bool) error { is = on; return nil })}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		before := is
		file, err := tree.OpenFile("/d/enabled", vfs.O_WRONLY)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		_, err = vfs.Write(file, []byte(text), nil)
		want, ok := before, true
		switch strings.TrimSpace(text) {
		case "1", "y", "Y":
			want = true
		case "0", "n", "N":
			want = false
		default:
			ok = false
		}
		if is != want || ok != (err == nil) || !ok && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%q: %v, and it is %t; it was %t", text, err, is, before)
		}
		read, err := tree.ReadFile("d/enabled")
		if err != nil || string(read) != map[bool]string{true: "1\n", false: "0\n"}[is] {
			t.Errorf("%q, %v, but it is %t", read, err, is)
		}
	})
}

func TestLinesHaveNoBlanksAtTheEnd(t *testing.T) {
	var b bytes.Buffer
	Line(&b, "%-4s|%4s", "a", "")
	Line(&b, " %s", "b")
	if b.String() != "a   |\n b\n" {
		t.Errorf("%q", b.String())
	}
}
