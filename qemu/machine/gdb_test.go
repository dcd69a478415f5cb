package machine

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"sonde/internal/image"
)

// TestTwoWaitForGDB: two machines of one host each have a port of their own, and each stops until
// gdb says that it shall continue, where QEMU inherits files and where it does not.
func TestTwoWaitForGDB(t *testing.T) {
	if testing.Short() {
		t.Skip("boots the kernel")
	}
	kernel, err := image.Build(image.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { inherits = true }()
	for _, inherits = range []bool{true, false} {
		var ports []*GDB
		for range 2 {
			g, err := NewGDB()
			if err != nil {
				t.Fatal(err)
			}
			defer g.Close()
			ports = append(ports, g)
		}
		if ports[0].Port == ports[1].Port {
			t.Fatalf("both wait on port %d", ports[0].Port)
		}
		for i, g := range ports {
			s, err := Start(context.Background(), Config{Image: kernel, GDB: g, Script: fmt.Sprint("echo ", i), Timeout: Patience(2 * time.Minute)})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			goOn(t, g.Port)
			if r, err := s.Wait(); err != nil || strings.TrimSpace(string(r.Stdout)) != fmt.Sprint(i) {
				t.Errorf("inherits %v: %q, %v", inherits, r.Stdout, err)
			}
		}
	}
}

// goOn plays gdb: it connects, and makes the machine continue.
func goOn(t *testing.T, port int) {
	t.Helper()
	for end := time.Now().Add(Patience(time.Minute)); ; time.Sleep(10 * time.Millisecond) {
		gdb, err := net.Dial("tcp4", fmt.Sprint("127.0.0.1:", port))
		if err == nil {
			t.Cleanup(func() { gdb.Close() })
			fmt.Fprint(gdb, "$c#63")
			return
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}
