//go:build tamago

package load

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"

	"sonde/kernel/refusal"
	"sonde/kernel/vfs"
)

// A written file, and what was written to it.
type written struct {
	name         string
	sizes        []int
	most         int // bytes that it takes at once; 0: any number
	asked, taken int
	short        int
}

// room is how many names the table of the lab has room for.
const room = 32

// kinds are what files can be written to: plain ones; some that take only a part of a write; some of
// these with long names.
var kinds = []string{"plain", "short", "long"}

// writes writes files whose names and sizes follow from a seed: SEED,FILES,GOROUTINES,KIND.
func writes(args []string) error {
	kind := slices.Index(kinds, args[3])
	if kind < 0 {
		return refusal.New(syscall.EINVAL, "%q is none of %v", args[3], kinds)
	}
	n, err := numbers(args[:3]...)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(n[0]), 27))
	files := make([]*written, n[1])
	for i := range files {
		files[i] = plan(random, i, kind)
	}
	errs := make([]error, len(files))
	together(n[2], func(g int) {
		for i := g; i < len(files); i += n[2] {
			errs[i] = files[i].write()
		}
	})
	if err := cmp.Or(errs...); err != nil {
		return err
	}
	tell(files)
	return nil
}

// plan decides what to write to a file. Unless all are plain, every third takes only some bytes at
// once.
func plan(random *rand.Rand, i, kind int) *written {
	w := &written{name: fmt.Sprintf("/tmp/parcel%d.%d", i, random.IntN(1000))}
	if kind == 2 {
		w.name = fmt.Sprintf("/tmp/%s%d", strings.Repeat("registered-letter-", 3), i)
	}
	more := 0
	if kind > 0 && i%3 == 2 {
		w.most = 60 + random.IntN(90)
		more = 50
	}
	for range 1 + random.IntN(9) {
		w.sizes = append(w.sizes, 1+more+random.IntN(150))
	}
	return w
}

// write writes the file.
func (w *written) write() error {
	if w.most > 0 {
		if err := vfs.Bind(w.name, slot{w.most}); err != nil {
			return err
		}
	}
	defer vfs.Root.Unbind(w.name)
	f, err := vfs.Open(w.name, vfs.O_WRONLY|vfs.O_CREAT)
	if err != nil {
		return err
	}
	defer f.Close()
	var text [1000]byte
	for _, size := range w.sizes {
		n, err := vfs.Write(f, text[:size], nil)
		if err != nil {
			return err
		}
		w.asked += size
		w.taken += n
		if n < size {
			w.short++
		}
	}
	return nil
}

// slot is a file that takes at most so many bytes at once, as a pipe that is nearly full does.
type slot struct{ most int }

func (s slot) Stat() vfs.Info                    { return vfs.Info{Mode: 0o222} }
func (s slot) Open(int) (vfs.Handle, error)      { return s, nil }
func (s slot) ReadAt([]byte, int64) (int, error) { return 0, syscall.EBADF }
func (s slot) Close() error                      { return nil }

func (s slot) WriteAt(p []byte, _ int64) (int, error) { return min(len(p), s.most), nil }

// tell reports the ten files with the most bytes, as lab2 prints them, and the files after the first
// 32.
func tell(files []*written) {
	others := written{name: "other"}
	for _, w := range files[min(room, len(files)):] {
		others.asked += w.asked
		others.taken += w.taken
		others.short += w.short
	}
	files = slices.Clone(files[:min(room, len(files))])
	slices.SortFunc(files, func(a, b *written) int {
		return cmp.Or(cmp.Compare(b.taken, a.taken), strings.Compare(a.name, b.name))
	})
	for i, w := range files[:min(10, len(files))] {
		report(fmt.Sprintf("file%d", i+1), "%s", w.line())
	}
	report("other", "%s", others.line())
}

// shown is how much of a name is shown.
const shown = 40

func (w *written) line() string {
	name := w.name
	if len(name) > shown {
		name = "..." + name[len(name)-shown:]
	}
	return fmt.Sprintf("%s: %d asked, %d written, %d short", name, w.asked, w.taken, w.short)
}
