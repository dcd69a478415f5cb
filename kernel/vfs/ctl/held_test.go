package ctl

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"sonde/kernel/vfs"
)

// TestTextsAreBounded: each open file keeps its text, and programs can open many.
func TestTextsAreBounded(t *testing.T) {
	tree := vfs.New()
	if err := tree.Bind("/long", Text(func() string { return strings.Repeat("x", 1<<20) })); err != nil {
		t.Fatal(err)
	}
	before := held.Load()
	var open []*vfs.File
	for range mostHeld>>20 + 1 {
		f, err := tree.OpenFile("/long", os.O_RDONLY)
		if err != nil {
			if !errors.Is(err, syscall.ENOMEM) {
				t.Error(err)
			}
			break
		}
		open = append(open, f)
	}
	if len(open) < mostHeld>>20-1 || len(open) > mostHeld>>20 {
		t.Errorf("%d texts of 1 MiB are held", len(open))
	}
	for _, f := range open {
		f.Close()
	}
	if n := held.Load(); n != before {
		t.Errorf("%d bytes are held when all is closed", n-before)
	}
}
