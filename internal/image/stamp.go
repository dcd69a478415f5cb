package image

import (
	"encoding/json"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// A stamp lies beside an image, and says of what it was made: a sum of the names, sizes and times of
// all files that can go in, of what chooses the toolchain, and of this program, which finishes images. While that
// is the same, Build does not ask the go command, which takes seconds to find out that nothing has changed.
type stamp struct {
	file    string // where it lies; "" if there is none for such a build
	Sum     string
	Version string   // of Go, which Build may have to say something about
	Outside []string // files and folders elsewhere that packages of BuildOptions.With are made of
	Facts   string   // about these and what was made
}

// stamp is what a build from now on would get. A file that changes while the build reads it has another time than
// the one that is in the sum.
//
// Images that are finished in a way of their own have none.
func (o BuildOptions) stamp(root, image string) (s stamp, err error) {
	if o.Finish.Initramfs != nil || o.Finish.Entry != "" {
		return s, nil
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%s %q %q\n", o.tags(), o.LDFlags, program())
	toolchainSum(h)
	err = sources(root, func(path string, info fs.FileInfo) {
		fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
	})
	return stamp{file: image + ".stamp", Sum: fmt.Sprintf("%x", h.Sum(nil))}, err
}

// fits reports whether the image was made of just that, and is as it was then.
func (s *stamp) fits(files ...string) bool {
	text, err := os.ReadFile(s.file)
	var was stamp
	if err != nil || json.Unmarshal(text, &was) != nil {
		return false
	}
	s.Version = was.Version
	return was.Sum == s.Sum && was.Facts == facts(files)+contents(was.Outside)
}

// put writes it beside the files that were made.
func (s *stamp) put(version string, outside []string, files ...string) error {
	if s.file == "" {
		return nil
	}
	s.Version, s.Outside, s.Facts = version, outside, facts(files)+contents(outside)
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	return os.WriteFile(s.file, text, 0o644)
}

// facts are the sizes and times of files.
func facts(files []string) string {
	var b strings.Builder
	for _, f := range files {
		if info, err := os.Stat(f); err != nil {
			fmt.Fprintln(&b, err)
		} else {
			fmt.Fprintln(&b, filepath.Base(f), info.Size(), info.ModTime().UnixNano())
		}
	}
	return b.String()
}

// contents is a sum of what is in files, and in the files of folders. Times do not count: the grader of
// the course copies what it builds.
func contents(paths []string) string {
	h := fnv.New128a()
	add := func(path string) {
		text, err := os.ReadFile(path)
		fmt.Fprintf(h, "%q %q %v\n", path, text, err != nil)
	}
	for _, path := range paths {
		entries, err := os.ReadDir(path)
		if err != nil {
			add(path)
		}
		for _, e := range entries {
			switch file := filepath.Join(path, e.Name()); {
			case e.Type().IsRegular() && goesIn(e.Name()):
				add(file)
			case e.IsDir():
				fmt.Fprintln(h, file)
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// changedSince reports whether one of these paths, or a file in one that is a folder, has changed since then.
func changedSince(then time.Time, paths []string) bool {
	changed := func(path string) bool {
		info, err := os.Stat(path)
		return err == nil && info.ModTime().After(then)
	}
	return slices.ContainsFunc(paths, func(path string) bool {
		entries, _ := os.ReadDir(path) // none: it is a file
		return changed(path) || slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return changed(filepath.Join(path, e.Name())) })
	})
}

// sources calls f with all files below root that can go into an image: those of packages, also what they embed.
func sources(root string, f func(path string, info fs.FileInfo)) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "build", "docs", "lab"}, name):
			return fs.SkipDir
		case !d.Type().IsRegular() || !goesIn(name):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			f(name, info)
		}
		return err
	})
}

// goesIn reports whether a file with that name can go into an image.
func goesIn(name string) bool {
	return !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, ".md")
}

// toolchainSum adds what decides which Go builds: the go command, its own file of settings, and the environment.
func toolchainSum(h hash.Hash) {
	settings := os.Getenv("GOENV")
	if config, err := os.UserConfigDir(); err == nil && settings == "" {
		settings = filepath.Join(config, "go", "env")
	}
	goCmd, _ := exec.LookPath("go")
	for _, file := range []string{goCmd, settings} {
		if info, err := os.Stat(file); err == nil {
			fmt.Fprintln(h, file, info.Size(), info.ModTime().UnixNano())
		}
	}
	for _, v := range slices.Sorted(slices.Values(os.Environ())) {
		if strings.HasPrefix(v, "GO") {
			fmt.Fprintln(h, v)
		}
	}
}

// program is the sum of this program: the overlay of the Go runtime and the rules of finishing are in it.
var program = sync.OnceValue(func() string {
	h := fnv.New128a()
	if path, err := os.Executable(); err == nil {
		if f, err := os.Open(path); err == nil {
			defer f.Close()
			io.Copy(h, f)
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil))
})
