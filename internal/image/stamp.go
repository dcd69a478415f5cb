package image

import (
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
)

// A stamp lies beside an image, and says of what it was made: a sum of the names, sizes and times of
// all files that can go in, of what chooses the toolchain, and of this program, which finishes images. While that
// is the same, Build does not ask the go command, which takes seconds to find out that nothing has changed.
type stamp struct {
	file    string // where it lies; "" if there is none for such a build
	sum     string
	version string // of Go, which Build may have to say something about
}

// stamp is what a build from now on would get. A file that changes while the build reads it has another time than
// the one that is in the sum.
//
// Packages from elsewhere may import what lies anywhere, so images with such have no stamp; nor have those that
// are finished in a way of their own.
func (o BuildOptions) stamp(root, image string) (s stamp, err error) {
	if len(o.With) > 0 || o.Under != nil || o.Finish.Initramfs != nil || o.Finish.Entry != "" {
		return s, nil
	}
	h := fnv.New128a()
	fmt.Fprintf(h, "%s %q %q\n", o.tags(), o.LDFlags, program())
	toolchainSum(h)
	err = sources(root, func(path string, info fs.FileInfo) {
		fmt.Fprintln(h, path, info.Size(), info.ModTime().UnixNano())
	})
	return stamp{file: image + ".stamp", sum: fmt.Sprintf("%x", h.Sum(nil))}, err
}

// fits reports whether the image was made of just that, and is as it was then.
func (s *stamp) fits(files ...string) bool {
	text, err := os.ReadFile(s.file)
	if s.file == "" || err != nil {
		return false
	}
	made, rest, _ := strings.Cut(string(text), "\n")
	if s.version, rest, _ = strings.Cut(rest, "\n"); made != s.sum {
		return false
	}
	are, err := facts(files)
	return err == nil && rest == are
}

// put writes it beside the files that were made.
func (s *stamp) put(version string, files ...string) error {
	if s.file == "" {
		return nil
	}
	are, err := facts(files)
	if err != nil {
		return err
	}
	return os.WriteFile(s.file, []byte(s.sum+"\n"+version+"\n"+are), 0o644)
}

// facts are the sizes and times of files.
func facts(files []string) (string, error) {
	var b strings.Builder
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return "", err
		}
		fmt.Fprintln(&b, filepath.Base(f), info.Size(), info.ModTime().UnixNano())
	}
	return b.String(), nil
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
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, ".md"):
			return nil
		}
		info, err := d.Info()
		if err == nil {
			f(name, info)
		}
		return err
	})
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
