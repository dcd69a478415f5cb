package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMissingPackages: root installs what a target needs, others do by sudo, and who cannot is told
// what to type, as one whose Go is missing or too old to fetch a newer one. What apt says is shown if it
// fails. The host's own programs are not in the PATH: everything is missing.
func TestMissingPackages(t *testing.T) {
	const (
		goes    = "echo go version go1.21.0 linux/amd64"
		install = "apt-get install -y --no-install-recommends qemu-system-x86"
		getGo   = "Please install Go 1.21 or later: https://go.dev/dl"
		apt     = "env DEBIAN_FRONTEND=noninteractive " + install
		writes  = `echo "RAN ${0##*/} $*" >>"${0%/*}/ran"; case "$*" in *FRONTEND*) echo a hundred lines >&2 ;; esac`
	)
	for _, c := range []struct {
		name, uid, goes, env, sudo string
		want                       string
		fails                      bool
	}{
		{"root", "0", goes, writes, "", "RAN " + apt, false},
		{"no network", "0", goes, "echo no network; exit 1", "", "no network\nThe packages could not be installed. Please run: " + install, true},
		{"sudo", "1000", goes, writes, writes, "RAN sudo -n " + apt, false},
		{"sudo wants a password", "1000", goes, writes, "exit 1", "Missing packages. Please run: sudo " + install, true},
		{"no sudo", "1000", goes, writes, "", "Missing packages. Please run as root: " + install, true},
		{"no Go", "0", "", writes, "", "Go is missing. " + getGo, true},
		{"old Go", "0", "echo go version go1.19.8 linux/amd64", writes, "", "This is too old: go version go1.19.8 linux/amd64. " + getGo, true},
		{"Go before modules", "0", "echo go version go1.4.3 linux/amd64", writes, "", "This is too old: go version go1.4.3 linux/amd64. " + getGo, true},
	} {
		script, err := os.ReadFile("../internal/host-packages.sh")
		if err != nil {
			t.Fatal(err)
		}
		t.Run(c.name, func(t *testing.T) {
			path := t.TempDir()
			for name, body := range map[string]string{"id": "echo " + c.uid, "apt-get": "exit 1", "env": c.env, "go": c.goes, "sudo": c.sudo} {
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
			ran, _ := os.ReadFile(filepath.Join(path, "ran"))
			if !strings.Contains(string(out)+string(ran), c.want+"\n") || (err != nil) != c.fails || strings.Contains(string(out), "hundred") {
				t.Errorf("%v\n%s%s\nwant %q", err, out, ran, c.want)
			}
		})
	}
}
