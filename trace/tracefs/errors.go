package tracefs

import (
	"fmt"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/sysctl"
)

// A mistake is what is wrong with a command, and where.
type mistake struct {
	at    int // in the command, in bytes
	why   string
	errno syscall.Errno // 0: EINVAL
}

func (m *mistake) Error() string { return m.why }

// Unwrap returns the errno.
func (m *mistake) Unwrap() error {
	if m.errno == 0 {
		return syscall.EINVAL
	}
	return m.errno
}

func wrong(at int, why string) *mistake { return &mistake{at: at, why: why} }

// mostErrors is how many mistakes error_log keeps.
const mostErrors = 8

// report keeps a mistake for the file error_log: who found it, in which command. It returns the error of the write.
func (i *instance) report(who, command string, err error) error {
	m, ok := err.(*mistake)
	if !ok || m == nil {
		return err
	}
	t := now()
	i.errors = append(i.errors, fmt.Sprintf("[%5d.%06d] %s: error: %s\n  Command: %s\n           %s^\n",
		t/1e9, t%1e9/1e3, who, m.why, command, strings.Repeat(" ", m.at)))
	i.errors = slices.Clone(i.errors[max(0, len(i.errors)-mostErrors):])
	return refusal.New(m.Unwrap().(syscall.Errno), "%s: %s: %s", who, brief(command), brief(m.why))
}

// mostCommand is how long a line, a filter or a trigger can be, as in Linux.
const mostCommand = 4096

// short tells whether a command is short enough.
//
// Errors: EINVAL.
func short(command string) error {
	if len(command) >= mostCommand {
		return refusal.New(syscall.EINVAL, "%d bytes: give less than %d", len(command), mostCommand)
	}
	return nil
}

// brief is a text for an error, which must not repeat all of it if it is long.
func brief(text string) string {
	if len(text) <= 200 {
		return text
	}
	return sysctl.Quote(text)
}
