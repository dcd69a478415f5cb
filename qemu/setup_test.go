package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMissingPackages: root installs what a target needs, others do by sudo, and who cannot is told
// what to type. The host's own programs are not in the PATH: everything is missing.
func TestMissingPackages(t *testing.T) {
	const (
		install = "apt-get install -y --no-install-recommends qemu-system-x86"
		says    = "echo SAID ${0##*/} $*"
	)
	for _, c := range []struct {
		name, uid, sudo string
		want            string
		fails           bool
	}{
		{"root", "0", "", "SAID " + install, false},
		{"sudo", "1000", says, "SAID sudo -n " + install, false},
		{"sudo wants a password", "1000", "exit 1", "Missing packages. Please run: sudo " + install, true},
		{"no sudo", "1000", "", "Missing packages. Please run as root: " + install, true},
	} {
		script, err := os.ReadFile("../internal/host-packages.sh")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			for name, body := range map[string]string{"id": "echo " + c.uid, "apt-get": says, "sudo": c.sudo} {
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
