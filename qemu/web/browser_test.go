package main

import (
	"os"
	"os/exec"
	"testing"

	"sonde/internal/chromium"
)

// TestInBrowser runs the tests in browser, a module of its own, where Chromium is the user.
func TestInBrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a browser")
	}
	browser := chromium.Find()
	if browser == "" {
		t.Skip("skipped: no chromium")
	}
	load := exec.Command("go", "mod", "download")
	load.Dir = "browser"
	if out, err := load.CombinedOutput(); err != nil {
		t.Skipf("skipped: no chromedp: %v: %s", err, out)
	}
	c := exec.Command("go", "test", "-vet=off", "-count=1", ".")
	c.Dir, c.Env = "browser", append(os.Environ(), "CHROMIUM="+browser)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
