package machine

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"sonde/internal/image"
)

// TestLinksByConnections: on a host where QEMU inherits no files, it connects to ours.
func TestLinksByConnections(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	inherits = false
	defer func() { inherits = true }()
	kernel, err := image.Build(image.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(context.Background(), Config{Image: kernel, Script: "echo by a connection; exit 5", Timeout: Patience(2 * time.Minute)})
	if err != nil || r.Status != 5 || string(r.Stdout) != "by a connection\n" {
		t.Errorf("status %d, %q, %v", r.Status, r.Stdout, err)
	}
	_, err = Run(context.Background(), Config{Image: kernel, Script: "echo", Extra: []string{"-nonsense"}})
	if !errors.Is(err, ErrQEMU) {
		t.Errorf("QEMU that does not connect: %v", err)
	}
}

// TestNobodyConnects: a link ends when it is hung up.
func TestNobodyConnects(t *testing.T) {
	l, err := awaited()
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(10*time.Millisecond, l.hangUp)
	if n, err := l.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("%d bytes, %v", n, err)
	}
	if _, err := l.Write([]byte("x")); err == nil {
		t.Error("written to nobody")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestWhatToInstall(t *testing.T) {
	for goos, word := range map[string]string{"linux": "Debian", "darwin": "brew", "freebsd": "your system"} {
		if said := install(goos); !strings.Contains(said, word) {
			t.Errorf("%s: %s", goos, said)
		}
	}
}
