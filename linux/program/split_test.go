package program

import (
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sonde/kernel/vfs"
)

// TestSplit: a stripped program has the names of the file that its build-id or its link names, wherever that may be, and the DWARF; not
// those of another build.
func TestSplit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(at("p.c"), []byte("static __attribute__((noinline)) int hidden(int n) { return n * 3; } int main(int n, char **v) { return hidden(n); }"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"gcc -g -O1 -Wl,--build-id -o whole p.c", "objcopy --only-keep-debug whole p.debug", "objcopy --strip-all --add-gnu-debuglink=p.debug whole linked",
		"objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink=p.debug whole bare",
		"gcc -g -O2 -Wl,--build-id=none -o third p.c", "objcopy --only-keep-debug third other.debug"} {
		cmd := exec.Command("sh", "-c", args)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%s: %v\n%s", args, err, out)
		}
	}
	bytes := func(name string) []byte {
		b, err := os.ReadFile(at(name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	whole, err := vfsFile("/split/whole", bytes("whole"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Lookup("hidden")
	id := hex.EncodeToString(whole.elf.buildID())
	if err != nil || len(id) < 8 {
		t.Fatal(id, err)
	}
	for _, c := range []struct {
		program, place, debug string
		found                 bool
	}{
		{"linked", "", "", false},
		{"linked", "/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug", "p.debug", true},
		{"linked", "/usr/lib/debug/.build-id/" + id[:2] + "/" + id[2:] + ".debug", "other.debug", false},
		{"bare", "/split/p.debug", "p.debug", true},
		{"bare", "/split/.debug/p.debug", "p.debug", true},
		{"bare", "/usr/lib/debug/split/p.debug", "p.debug", true},
		{"bare", "/split/p.debug", "other.debug", false}, // its sum is another
		{"bare", "/split/p.debug", "p.c", false},
		{"linked", "/split/p.debug", "p.debug", true},
	} {
		if c.place != "" {
			vfs.Root.MkdirAll(filepath.Dir(c.place), 0o755)
			if err := vfs.WriteFile(c.place, bytes(c.debug)); err != nil {
				t.Fatal(err)
			}
		}
		f, err := vfsFile("/split/program", bytes(c.program))
		if err != nil {
			t.Fatal(err)
		}
		s, err := f.Lookup("hidden")
		if (err == nil) != c.found || c.found && (s.Addr != want.Addr || s.Size != want.Size) {
			t.Errorf("%+v: %+v, %v; want %+v", c, s, err, want)
		}
		sections, err := f.Debug()
		if got := len(sections[".debug_info"]) > 0; got != c.found || err != nil {
			t.Errorf("%+v: DWARF %v, %v", c, got, err)
		}
		if c.place != "" {
			vfs.Remove(c.place)
		}
	}
}

// vfsFile opens a program that has these bytes.
func vfsFile(path string, data []byte) (*File, error) {
	vfs.Root.MkdirAll(filepath.Dir(path), 0o755)
	if err := vfs.WriteFile(path, data); err != nil {
		return nil, err
	}
	file, err := vfs.Open(path, vfs.O_RDONLY)
	if err != nil {
		return nil, err
	}
	return OpenFile(file)
}

// TestSplitNames: a link is the name of a file, not a path.
func TestSplitNames(t *testing.T) {
	for _, link := range []string{"../p.debug", "/etc/p", "", strings.Repeat("x", 5000)} {
		o := &object{sections: []section{{name: ".gnu_debuglink", size: uint64(len(link) + 5)}}, file: strings.NewReader(link + "\x00sum4")}
		if at := o.splitFile("/bin/p"); at != "" {
			t.Errorf("%.20q leads to %s", link, at)
		}
	}
}
