//go:build tamago

package suites

import (
	"strings"

	"sonde/kernel/printk"
)

// Mark returns the number of the last message in the log, for Logged and Log.
func Mark() (last uint64) {
	for r := range printk.Records() {
		last = r.Seq
	}
	return last
}

// Logged returns how many messages after the mark say all of what.
func Logged(since uint64, what ...string) (n int) {
next:
	for r := range printk.Records() {
		if r.Seq <= since {
			continue
		}
		for _, s := range what {
			if !strings.Contains(string(r.Text()), s) {
				continue next
			}
		}
		n++
	}
	return n
}

// Log returns the messages after the mark, a line each.
func Log(since uint64) string {
	var b strings.Builder
	for r := range printk.Records() {
		if r.Seq > since {
			b.Write(r.Text())
			b.WriteByte('\n')
		}
	}
	return b.String()
}
