package vfs

import (
	"errors"
	"syscall"
	"testing"
)

func TestMountOfAPlace(t *testing.T) {
	tree := New()
	for _, dir := range []string{"/proc", "/process", "/sys/kernel/debug/x", "/sys/kernel/debugger"} {
		if err := tree.MkdirAll(dir, 0755); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"/": "/", "/proc": "/proc", "/process": "/", "/sys/kernel": "/sys",
		"/sys/kernel/debug": "/sys/kernel/debug", "/sys/kernel/debug/x": "/sys/kernel/debug", "/sys/kernel/debugger": "/sys",
	} {
		p, err := tree.PlaceAt(tree.RootPlace(), path, true, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Mount().Dir; got != want {
			t.Errorf("%s is in %s, want %s", path, got, want)
		}
		if i, err := tree.StatAt(tree.RootPlace(), path, true); err != nil || i.Dev != p.Mount().Device() {
			t.Errorf("%s is on device %d of %s, %v", path, i.Dev, want, err)
		}
	}
}

// TestNamesStayOnTheirMount: programs copy a file that they cannot move, if the error says so. It
// used to be EPERM or EACCES.
func TestNamesStayOnTheirMount(t *testing.T) {
	tree := New()
	for _, dir := range []string{"/proc/d", "/tmp/d"} {
		if err := tree.MkdirAll(dir, 0755); err != nil {
			t.Fatal(err)
		}
	}
	if err := tree.Bind("/proc/bound", ctlNode{}); err != nil {
		t.Fatal(err)
	}
	if f, err := tree.OpenFile("/tmp/file", O_CREAT|O_RDWR); err != nil {
		t.Fatal(err)
	} else {
		Close(f)
	}
	root := tree.RootPlace()
	link := func(from, to string) error { return tree.LinkAt(root, from, root, to, false) }
	rename := func(from, to string) error { return tree.RenameAt(root, from, root, to, Replace) }
	for what, tt := range map[string]struct{ got, want error }{ // evaluated in this order
		"link out of a mount":        {link("/proc/bound", "/tmp/new"), syscall.EXDEV},
		"link of a directory":        {link("/proc/d", "/tmp/new"), syscall.EXDEV},
		"link into a mount":          {link("/tmp/file", "/proc/new"), syscall.EXDEV},
		"link to a name in a mount":  {link("/tmp/file", "/proc/bound"), syscall.EEXIST},
		"link of a directory beside": {link("/tmp/d", "/tmp/new"), syscall.EPERM},
		"move out of a mount":        {rename("/proc/bound", "/tmp/new"), syscall.EXDEV},
		"move into a mount":          {rename("/tmp/file", "/proc/new"), syscall.EXDEV},
		"move beside":                {rename("/tmp/file", "/tmp/new"), nil},
	} {
		if !errors.Is(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", what, tt.got, tt.want)
		}
	}
}
