package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInBrowser runs the tests in browser, a module of its own, where Chromium is the user: of the page, and of the file
// with all recordings.
func TestInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a browser")
	}
	chromium := ""
	for _, name := range []string{"google-chrome", "chromium-browser", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
		}
	}
	if chromium == "" {
		t.Skip("skipped: no chromium")
	}
	load := exec.Command("go", "mod", "download")
	load.Dir = "browser"
	if out, err := load.CombinedOutput(); err != nil {
		t.Skipf("skipped: no chromedp: %v: %s", err, out)
	}
	file := filepath.Join(t.TempDir(), "replay.html")
	if err := write(file); err != nil {
		t.Fatal(err)
	}
	s, address, err := serveFake()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := exec.Command("go", "test", "-vet=off", "-count=1", "-v", ".")
	c.Dir, c.Env = "browser", append([]string{"SONDE_PAGE=" + address, "SONDE_REPLAY=" + file, "SONDE_CHROMIUM=" + chromium}, os.Environ()...) // which may name others
	out, err := c.CombinedOutput()
	if err != nil {
		t.Error(err)
	}
	t.Logf("%s", out)
}
