package handler

import (
	"runtime"
	"strings"
	"testing"

	"sonde/kernel/printk"
)

// TestPanicked: the log says what the handler did, whose it is, and where.
func TestPanicked(t *testing.T) {
	for text, f := range map[string]func(){
		"test: bug in the handler of w 0x1000, which is disabled":            func() { panic("bug") },
		"test: runtime.Goexit in the handler of w 0x1000, which is disabled": runtime.Goexit,
	} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer func() { Panicked("test", "w 0x1000", recover()) }()
			f()
		}()
		<-done
		var log strings.Builder
		for r := range printk.Records() {
			log.Write(append(r.Text(), '\n'))
		}
		if at := strings.Index(log.String(), text); at < 0 || !strings.Contains(log.String()[at:], "TestPanicked") {
			t.Errorf("%s: logged: %s", text, log.String())
		}
	}
}
