package vfs

import "testing"

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
