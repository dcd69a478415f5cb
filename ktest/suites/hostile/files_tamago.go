//go:build tamago

package hostile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"sonde/kernel/vfs"
	"sonde/ktest/suites"
)

func init() { suites.Add("hostile/binary_to_every_file", binaryToEveryFile) }

// binaryToEveryFile writes random bytes to each file of /proc and /sys that can be opened for
// writing, on all CPUs at once. A refusal has a reason; nothing is registered by it; and the
// sysctls can be put back.
func binaryToEveryFile(t *suites.T) {
	t.SeveralProcessors()
	seed := seedOf()
	t.Logf("seed %d", seed)
	st := newStage(t)
	defer st.end()
	st.files = nil
	st.walkAll("/proc")
	st.walkAll("/sys")
	var writable []string
	for _, name := range st.files {
		if f, err := vfs.Open(name, os.O_WRONLY); err == nil {
			writable = append(writable, name)
			vfs.Close(f)
		} else if why := unsound(err, nil); why != "" {
			t.Errorf("open %s: %v: %s", name, err, why)
		}
	}
	if len(writable) < len(st.sysctls) {
		t.Errorf("of %d files %d are writable, but there are %d sysctls", len(st.files), len(writable), len(st.sysctls))
	}
	counts := make([][2]int, suites.CPUs()) // accepted, refused
	for round := range uint64(suites.Rounds(6, 200)) {
		t.Together(func(i int) {
			s := &scene{stage: st, source: newSource(seed+round<<8+uint64(i), []string{"x"})}
			for _, at := range s.Perm(len(writable)) {
				if s.writeBinary(writable[at], fmt.Sprintf("seed %d, round %d, CPU %d", seed, round, i)) {
					counts[i][0]++
				} else {
					counts[i][1]++
				}
			}
		})
		st.look()
	}
	accepted, refused := 0, 0
	for _, c := range counts {
		accepted += c[0]
		refused += c[1]
	}
	t.Logf("count: hostile/files %d", len(st.files))
	t.Logf("count: hostile/files-writable %d", len(writable))
	t.Logf("count: hostile/binary-accepted %d", accepted)
	t.Logf("count: hostile/binary-refused %d", refused)
	if refused == 0 {
		t.Errorf("nothing was refused")
	}
}

// walkAll lists the regular files under dir, those of processes too.
func (st *stage) walkAll(dir string) {
	entries, err := vfs.ReadDir(dir)
	if err != nil { // of a process that has ended
		return
	}
	for _, e := range entries {
		switch name := path.Join(dir, e.Name()); {
		case e.Type()&fs.ModeSymlink != 0:
		case !e.IsDir():
			st.files = append(st.files, name)
		default:
			st.walkAll(name)
		}
	}
}

// writeBinary writes random bytes to a file, in one piece or several, and reports whether all
// were accepted.
func (s *scene) writeBinary(name, where string) bool {
	f, err := vfs.Open(name, pick(s.source, os.O_WRONLY, os.O_RDWR, os.O_WRONLY|os.O_TRUNC))
	for pieces := 1 + s.IntN(3); err == nil && pieces > 0; pieces-- {
		b := make([]byte, pick(s.source, 1, 2, 4, 8, 16, 100, 300, 4096, 70_000))
		for i := range b {
			b[i] = byte(s.Uint32())
		}
		_, err = vfs.Write(f, b, nil)
	}
	if f != nil {
		if cerr := vfs.Close(f); cerr != nil && err == nil {
			err = cerr
		}
	}
	if err == nil {
		return true
	}
	var bare *fs.PathError
	if errors.As(err, &bare) {
		if errno, is := bare.Err.(syscall.Errno); is && errno != syscall.ESRCH { // a process that has ended is reason enough
			s.t.Errorf("%s: write to %s: %v: it gives no reason", where, name, err)
		}
	}
	if why := unsound(err, nil); why != "" {
		s.t.Errorf("%s: write to %s: %.200v: %s", where, name, err, why)
	}
	if n := len(err.Error()); n > 2000 {
		s.t.Errorf("%s: write to %s: the refusal has %d bytes: %s", where, name, n, strings.ToValidUTF8(err.Error()[:100], "?"))
	}
	return false
}
