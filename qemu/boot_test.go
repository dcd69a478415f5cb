package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/internal/image"
	"sonde/qemu/machine"
)

// bootLimit bounds one boot of a host that has nothing else to do. It is generous: the host may be slow.
const bootLimit = 30 * time.Minute

// timeLimit bounds a machine of t, which has more time the more else the host has to do. What still
// runs a minute before go test's own time limit is stopped, because at that limit go test ends this
// process, and nobody sees what the machine has said.
func timeLimit(t *testing.T) time.Duration {
	limit := machine.Patience(bootLimit)
	if end, ok := t.Deadline(); ok {
		limit = min(limit, time.Until(end).Truncate(time.Second)-time.Minute)
	}
	return max(limit, time.Second)
}

var (
	normalImage = sync.OnceValues(func() (string, error) { return build(image.BuildOptions{}) })
	testImage   = sync.OnceValues(func() (string, error) { return build(image.BuildOptions{Test: true}) })
)

// build builds a kernel. It reads each folder first, so that the go command sees that this test
// depends on them: otherwise it would use a cached test result for a changed kernel.
func build(o image.BuildOptions) (string, error) {
	filepath.WalkDir("..", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "build" || d.Name() == ".git") {
			return fs.SkipDir
		}
		return err
	})
	return image.Build(o)
}

// bootScript runs a script on a freshly booted machine. If an image or QEMU is missing, the test
// fails: nothing is skipped silently.
func bootScript(t *testing.T, build func() (string, error), c machine.Config) machine.Result {
	t.Helper()
	return bootImage(t, imagePath(t, build), c)
}

// bootScripts runs scripts one after the other on one machine. It returns what each has printed and its
// status.
func bootScripts(t *testing.T, build func() (string, error), c machine.Config, scripts []string) (out []string, status []int, r machine.Result) {
	t.Helper()
	c.Script = strings.Join(scripts, between)
	if len(scripts) > 1 {
		c.Script = clearLog + c.Script
	}
	r = bootScript(t, build, c)
	rest := string(r.Stdout)
	for range len(scripts) - 1 {
		text, behind, _ := strings.Cut(rest, mark)
		line, behind, ok := strings.Cut(behind, "\n")
		n, err := strconv.Atoi(line)
		if !ok || err != nil {
			t.Fatalf("%d of %d scripts have ended\n%s", len(out), len(scripts), said(r))
		}
		out, status, rest = append(out, text), append(status, n), behind
	}
	return append(out, rest), append(status, r.Status), r
}

// between is between scripts that run on one machine. None finds in the log what is not its own: what
// another left there, or the command line, which has the texts of all.
const (
	clearLog = "dmesg -C\n"
	between  = "\necho " + mark + "$?; " + clearLog
)

// bootImage is bootScript for an existing image.
func bootImage(t *testing.T, path string, c machine.Config) machine.Result {
	t.Helper()
	c.Image, c.Timeout = path, timeLimit(t)
	r, err := machine.Run(context.Background(), c)
	if errors.Is(err, machine.ErrTimeout) {
		t.Errorf("%v\n%s", err, said(r))
	} else if err != nil {
		t.Fatal(err)
	}
	return r
}

// imagePath builds an image, or returns the one built before.
func imagePath(t *testing.T, build func() (string, error)) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// said formats what a machine printed, for failure messages.
func said(r machine.Result) string {
	const most = 6000
	return fmt.Sprintf("--- console\n%s\n--- output\n%s\n--- status %d after %v %s",
		end(r.Log, most), end(r.Stdout, most), r.Status, r.Duration.Round(time.Millisecond), r.Reason)
}

func end(b []byte, most int) []byte {
	return b[max(0, len(b)-most):]
}

// longTests is the variable of "make long": each machine runs every case, and tests try all
// processors, firmware and pictures that QEMU has.
const longTests = "SONDE_LONG"

// long reports whether tests may take many minutes.
func long() bool { return os.Getenv(longTests) != "" }

// cpus are the numbers of processors on which tests run programs: one, where everything takes
// turns, and several, where things happen at once. The kernel's own cases and those of user probes
// also run on two.
func cpus() []int {
	if long() {
		return []int{1, 2, 4}
	}
	return []int{1, 4}
}

func skipIfShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: boots machines")
	}
}

// runsBeside is for tests that boot machines: they run concurrently, as many as go test -parallel
// says. Only tests that measure time have the host to themselves.
func runsBeside(t *testing.T) {
	t.Helper()
	skipIfShort(t)
	t.Parallel()
}

// console is a machine at whose console a test types. It ends with the test.
type console struct {
	*testing.T
	*machine.Session
	ended bool
}

// startConsole boots the image of c, the kernel without tests if c names none. The prompt has no colours unless
// c.Append says NO_COLOR=.
func startConsole(t *testing.T, c machine.Config) *console {
	t.Helper()
	if c.From == machine.Direct && !strings.Contains(c.Append, "NO_COLOR") { // a medium has the line in it
		c.Append = strings.TrimSpace(c.Append + " NO_COLOR=1")
	}
	return startAsIs(t, c)
}

// startAsIs is startConsole with no more on the kernel's command line than c says.
func startAsIs(t *testing.T, c machine.Config) *console {
	t.Helper()
	if c.Image == "" {
		c.Image = imagePath(t, normalImage)
	}
	c.Timeout = timeLimit(t)
	s, err := machine.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	con := &console{T: t, Session: s}
	t.Cleanup(func() {
		if !con.ended {
			s.Close()
		}
	})
	return con
}

// prompt is what the shell waits with, perhaps after the editor's escapes.
const prompt = `sonde# (\x1b\[[0-9;?]*[A-Za-z])*$`

// see waits for the console to show the pattern and returns all output up to it. On a busy host a
// prompt may take minutes.
func (c *console) see(pattern string) string {
	c.Helper()
	return c.seeIn(bootLimit/3, pattern)
}

// seeIn is see with another limit, for firmware and GRUB.
func (c *console) seeIn(limit time.Duration, pattern string) string {
	c.Helper()
	text, err := c.Expect(pattern, limit)
	if err != nil {
		c.Fatal(err)
	}
	return text
}

// enter types text when there is a prompt.
func (c *console) enter(text string) {
	c.Helper()
	c.see(prompt)
	c.key(text + "\r")
}

// key types text without waiting.
func (c *console) key(text string) {
	c.Helper()
	if err := c.Type(text); err != nil {
		c.Fatal(err)
	}
}

// wait waits until the machine ends by itself.
func (c *console) wait() machine.Result {
	c.Helper()
	c.ended = true
	r, err := c.Wait()
	if err != nil {
		c.Fatalf("%v\n%s", err, said(r))
	}
	return r
}
