package initramfs

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzUnpack: an archive is either unpacked, or refused without any effect.
func FuzzUnpack(f *testing.F) {
	good := archive(f, sample...)
	f.Add(good)
	f.Add(compressed(good))
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		tree := newTree(t)
		r, err := Unpack(tree, data)
		if err == nil {
			r.Describe()
		} else if left, _ := tree.ReadDir("."); len(left) != 1 || !strings.HasPrefix(err.Error(), "initramfs: ") {
			t.Errorf("%v; left %v", err, left)
		}
		if !bytes.Equal(data, before) {
			t.Error("the archive has changed")
		}
	})
}
