package process

import (
	"errors"
	"strconv"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs/ctl"
	"sonde/linux/proc"
)

// slack is the timer slack of a process's first thread, in nanoseconds; writing 0 means
// the one with which it began.
//
// Errors: EINVAL and ERANGE for what is no such number, ESRCH once the thread has ended.
func slack(p *proc.Process) ctl.File {
	return ctl.File{
		Read: func() ([]byte, error) {
			t := p.FirstThread()
			if t == nil {
				return nil, syscall.ESRCH
			}
			return append(strconv.AppendUint(nil, t.RawSlack(), 10), '\n'), nil
		},
		Write: func(b []byte) error {
			ns, err := strconv.ParseUint(strings.TrimPrefix(string(b), "+"), 10, 64)
			switch t := p.FirstThread(); {
			case errors.Is(err, strconv.ErrRange):
				return refusal.New(syscall.ERANGE, "more nanoseconds than 64 bits hold")
			case err != nil:
				return refusal.New(syscall.EINVAL, "%.20q is not a number of nanoseconds", b)
			case t == nil:
				return refusal.New(syscall.ESRCH, "the process has ended")
			default:
				t.SetSlack(ns)
			}
			return nil
		},
	}
}
