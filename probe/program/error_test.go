package program

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"sonde/kernel/refusal"
)

// TestErrorTexts: the texts are those that the errors' own methods make, also of errors in others, as far as there
// is room; what has no text in memory is a question mark.
func TestErrorTexts(t *testing.T) {
	in := func(err error) error { return &fs.PathError{Op: "open", Path: "/nothing", Err: err} }
	deep := in(in(in(in(in(syscall.ENOENT)))))
	for _, c := range []struct {
		err  error
		want string
	}{
		{io.EOF, "EOF"}, {in(syscall.ENOENT), in(syscall.ENOENT).Error()}, {in(in(io.EOF)), in(in(io.EOF)).Error()},
		{syscall.EACCES, syscall.EACCES.Error()}, {syscall.Errno(1000), "?"}, {refusal.New(syscall.EINVAL, "no %d", 5), "no 5"},
		{fmt.Errorf("x: %w", syscall.EIO), "x: " + syscall.EIO.Error()}, {in(nil), "open /nothing: nil"}, {nil, "nil"},
		{errors.Join(io.EOF), "?"}, {deep, strings.Repeat("open /nothing: ", 4) + "?"},
	} {
		for _, room := range []int{1, 8, 200} {
			words := *(*[2]uintptr)(unsafe.Pointer(&c.err))
			to := []byte(strings.Repeat("E", room+1))
			n := helpErrorText(words[0], words[1], wordOf(to), uintptr(room), 0, 0, 0, nil)
			want := c.want[:min(len(c.want), room-1)]
			if got, _, _ := strings.Cut(string(to[:room]), "\x00"); got != want || strings.Trim(string(to[len(got):room]), "\x00") != "" || to[room] != 'E' {
				t.Errorf("%v in %d bytes: %q and %d, want %q", c.err, room, to, n, want)
			}
			runtime.KeepAlive(c.err)
		}
	}
}
