package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"sonde/qemu/machine"
)

var update = flag.Bool("update", false, "record docs/demo.cast anew")

// demonstration is what is typed in docs/demo.cast. Each line fits the recording's width, after the prompt.
var demonstration = []string{
	"dmesg -n 1    # keep the log off the screen",
	"funccount -c 'cat /proc/version' 'vfs.*'",
	"bt -q -e 'kprobe:vfs.Write { @[comm] = count(); @bytes = hist(len(args.p)); }' -c 'myprog -n 3'",
	`bt -q -e 'uprobe:/bin/myprog:myfunc { printf("%s(%d)\n", func, arg0); }' -c 'myprog -n 2 > /dev/null'`,
	"insmod kprobe_example symbol=vfs.Read post=0; sleep 0.1; cat /sys/kernel/debug/kprobes/list",
	"rmmod kprobe_example; glass -s vfs.Read cat /proc/version",
	"kwatch w@printk.consoleLevel dmesg -n 2",
	"insmod kprobe_example symbol=vfs.Raed",
}

// A cast is a recording in asciinema's format, version 2 (its documentation, "asciicast v2"): a line with the
// header, then one for each piece of text and when it comes, in seconds.
type cast struct {
	text strings.Builder
	file strings.Builder
	now  float64
}

const castWidth, castHeight = 110, 32

// show adds text after a pause.
func (c *cast) show(pause float64, text string) {
	c.now += pause
	c.text.WriteString(text)
	event, _ := json.Marshal([]any{json.Number(fmt.Sprintf("%.3f", c.now)), "o", text})
	fmt.Fprintf(&c.file, "%s\n", event)
}

// typed adds a line as a person types it, and what it printed, by lines.
func (c *cast) typed(line, out string) {
	for _, r := range line {
		c.show(0.045, string(r))
	}
	c.show(0.4, "\r\n")
	for l := range strings.Lines(out) {
		c.show(0.03, l)
	}
	c.show(0, "sonde# ")
	c.now += 2.5
}

// TestDemonstration: docs/demo.cast is what the prompt shows, but for addresses, times and counts, and takes a
// minute.
func TestDemonstration(t *testing.T) {
	runsBeside(t)
	con := startConsole(t, machine.Config{SMP: 2, Append: fmt.Sprintf("rows=%d columns=%d NO_COLOR=", castHeight, castWidth)})
	con.see(prompt)
	var c cast
	fmt.Fprintf(&c.file, `{"version": 2, "width": %d, "height": %d, "title": "sonde"}`+"\n", castWidth, castHeight)
	c.show(0, "sonde# ")
	for _, line := range demonstration {
		con.key(line + "\r")
		_, out, echoed := strings.Cut(con.see(prompt), "\r\n")
		if !echoed || len("sonde# "+line) > castWidth {
			t.Fatalf("the line is not echoed, or too long: %q", line)
		}
		c.typed(line, strings.TrimSuffix(out, "sonde# "))
	}
	con.key("poweroff\r")
	con.wait()
	const file = "docs/demo.cast"
	if *update {
		if err := os.WriteFile("../"+file, []byte(c.file.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if c.now < 45 || c.now > 75 {
		t.Errorf("it takes %.0f s, not a minute", c.now)
	}
	shown, seconds := played(t, document(t, file))
	if seconds < c.now-5 || seconds > c.now+5 {
		t.Errorf("%s takes %.0f s, the recording of now %.0f: -update", file, seconds, c.now)
	}
	block{file: file}.find(t, masked(shown), masked(c.text.String()))
	block{file: file}.find(t, masked(c.text.String()), masked(shown))
}

// played is all text of a recording, and when the last comes.
func played(t *testing.T, recording string) (text string, seconds float64) {
	t.Helper()
	_, events, _ := strings.Cut(recording, "\n")
	for line := range strings.Lines(events) {
		var kind, piece string
		if err := json.Unmarshal([]byte(line), &[]any{&seconds, &kind, &piece}); err != nil || kind != "o" {
			t.Fatalf("%v: %s", err, line)
		}
		text += piece
	}
	return text, seconds
}
