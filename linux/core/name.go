package core

import (
	"strings"
	"syscall"

	"sonde/kernel/refusal"
)

// Check refuses patterns that Name is not made for.
//
// Errors: EINVAL.
func Check(pattern string) error {
	const most = 127
	switch {
	case strings.HasPrefix(pattern, "|"):
		return refusal.New(syscall.EINVAL, "%q is for a program that reads core files: this kernel starts none, so give a file's name", pattern)
	case len(pattern) > most:
		return refusal.New(syscall.EINVAL, "%d bytes, more than %d", len(pattern), most)
	}
	return nil
}

// Name returns the name of a core file: a pattern in which a letter after % stands for what value
// says. Other letters stand for nothing. A slash in a value becomes an exclamation mark.
//
// Source: Linux, core(5), "Naming of core dump files".
func Name(pattern string, value func(letter byte) string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(pattern, "%")
		b.WriteString(before)
		switch {
		case !found || after == "":
			return b.String()
		case after[0] == '%':
			b.WriteByte('%')
		default:
			b.WriteString(strings.ReplaceAll(value(after[0]), "/", "!"))
		}
		pattern = after[1:]
	}
}
