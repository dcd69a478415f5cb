package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMissingPackages: root installs what a target needs, others do by sudo, and who cannot is told
// what to type. The host's own programs are not in the PATH: everything is missing. So is one whose Go is
// missing, or too old to fetch a newer one.
func TestMissingPackages(t *testing.T) {
	const (
		goes    = "echo go version go1.21.0 linux/amd64"
		install = "apt-get install -y --no-install-recommends qemu-system-x86"
		getGo   = "Please install Go 1.21 or later: https://go.dev/dl"
		says    = "echo SAID ${0##*/} $*"
	)
	for _, c := range []struct {
		name, uid, goes, sudo string
		want                  string
		fails                 bool
	}{
		{"root", "0", goes, "", "SAID " + install, false},
		{"sudo", "1000", goes, says, "SAID sudo -n " + install, false},
		{"sudo wants a password", "1000", goes, "exit 1", "Missing packages. Please run: sudo " + install, true},
		{"no sudo", "1000", goes, "", "Missing packages. Please run as root: " + install, true},
		{"no Go", "0", "", "", "Go is missing. " + getGo, true},
		{"old Go", "0", "echo go version go1.19.8 linux/amd64", "", "This is too old: go version go1.19.8 linux/amd64. " + getGo, true},
		{"Go before modules", "0", "echo go version go1.4.3 linux/amd64", "", "This is too old: go version go1.4.3 linux/amd64. " + getGo, true},
	} {
		script, err := os.ReadFile("../internal/host-packages.sh")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			for name, body := range map[string]string{"id": "echo " + c.uid, "apt-get": says, "go": c.goes, "sudo": c.sudo} {
				if body == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(path, name), []byte("#!/bin/sh\n"+body+"\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("/bin/sh", "-c", string(script), "host-packages.sh", "run")
			cmd.Env = []string{"PATH=" + path}
			out, err := cmd.CombinedOutput()
			if !strings.Contains(string(out), c.want+"\n") || (err != nil) != c.fails {
				t.Errorf("%v\n%s\nwant %q", err, out, c.want)
			}
		})
	}
}
