package initrd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sonde/kernel/vfs/cpio"
)

// made returns the entries of an archive, by name.
func made(t *testing.T, a *Archive) map[string]cpio.Entry {
	t.Helper()
	var b bytes.Buffer
	if _, err := a.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	list, _, err := cpio.Read(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]cpio.Entry{}
	for _, e := range list {
		all[e.Name] = e
	}
	return all
}

func write(t *testing.T, name, text string, mode fs.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFilesAndFoldersGoWhereTheyShould(t *testing.T) {
	dir := t.TempDir()
	file := write(t, filepath.Join(dir, "prog"), "text", 0o755)
	os.Mkdir(filepath.Join(dir, "sub"), 0o750)
	write(t, filepath.Join(dir, "sub", "deep"), "deep", 0o640)
	os.Symlink("deep", filepath.Join(dir, "sub", "link"))
	os.Symlink("prog", filepath.Join(dir, "top"))
	t.Chdir(dir)
	for _, c := range []struct {
		spec string
		want map[string]uint32 // all that is there, with its mode
	}{
		{file, map[string]uint32{file[1:]: cpio.Regular | 0o755}},
		{"prog", map[string]uint32{"bin/prog": cpio.Regular | 0o755}}, // its name starts it
		{"sub/deep", map[string]uint32{"deep": cpio.Regular | 0o640}},
		{"prog:/bin/x", map[string]uint32{"bin/x": cpio.Regular | 0o755}},
		{"prog:/bin/", map[string]uint32{"bin/prog": cpio.Regular | 0o755}},
		{"top:bin/x", map[string]uint32{"bin/x": cpio.Regular | 0o755}},
		{"sub:/s", map[string]uint32{"s": cpio.Dir | 0o750, "s/deep": cpio.Regular | 0o640, "s/link": cpio.Symlink | 0o777}},
		{"sub:/", map[string]uint32{"deep": cpio.Regular | 0o640, "link": cpio.Symlink | 0o777}},
	} {
		var a Archive
		if err := a.Add(c.spec); err != nil {
			t.Errorf("%s: %v", c.spec, err)
		}
		got := made(t, &a)
		for name, mode := range c.want {
			if got[name].Mode != mode {
				t.Errorf("%s: %s has mode %o, want %o", c.spec, name, got[name].Mode, mode)
			}
		}
		if len(got) != len(c.want) {
			t.Errorf("%s: %d entries, want %d", c.spec, len(got), len(c.want))
		}
	}
}

func TestWhatCannotBeAddedIsNamed(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "bad"), "\x7fELF nonsense", 0o755)
	write(t, filepath.Join(dir, "script"), "#!/no/such/shell -x\n", 0o755)
	for spec, says := range map[string]string{
		"/no/such/file":                 "/no/such/file: cannot be added",
		"/dev/null":                     "/dev/null: cannot be added: not a file, folder or symbolic link",
		filepath.Join(dir, "bad"):       "bad: cannot be added",
		filepath.Join(dir, "script"):    "script: cannot be added: it needs /no/such/shell",
		filepath.Join(dir, "bad") + "/": "cannot be added",
	} {
		a := Archive{Deps: true}
		if err := a.Add(spec); !errors.Is(err, ErrFile) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// TestDepsAreWhatLddSays: all libraries that the host's linker would load, and the
// linker itself, are in the archive, also for a script.
func TestDepsAreWhatLddSays(t *testing.T) {
	const prog = "/bin/bash"
	out, err := exec.Command("ldd", prog).Output()
	if err != nil {
		t.Skip("no ldd, or no bash: ", err)
	}
	script := write(t, filepath.Join(t.TempDir(), "script"), "#! "+prog+" -e\ntrue\n", 0o755)
	for _, spec := range []string{prog, script + ":/x"} {
		a := Archive{Deps: true}
		if err := a.Add(spec); err != nil {
			t.Fatal(err)
		}
		got := made(t, &a)
		for line := range strings.Lines(string(out)) {
			name := strings.Fields(line)[0]
			if strings.HasPrefix(name, "linux-vdso") {
				continue
			}
			if !strings.HasPrefix(name, "/") {
				name = guestFolder + "/" + name
			}
			if e := got[name[1:]]; e.Type() != cpio.Regular || !bytes.HasPrefix(e.Data, []byte("\x7fELF")) {
				t.Errorf("%s: %s is not there, or no library", spec, name)
			}
		}
		if got[prog[1:]].Type() != cpio.Regular {
			t.Errorf("%s: no %s", spec, prog)
		}
	}
}

// TestUnwinderIsThere: a program that ends threads has the library that glibc opens for
// that and that no header names.
func TestUnwinderIsThere(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		call string
		want bool
	}{{"pthread_exit(0)", true}, {"pthread_self()", false}} {
		source := write(t, filepath.Join(dir, "p.c"), "#include <pthread.h>\nint main(void) { "+c.call+"; }\n", 0o644)
		prog := filepath.Join(dir, "p")
		if out, err := exec.Command("gcc", "-o", prog, source).CombinedOutput(); err != nil {
			t.Skip("no gcc: ", err, string(out))
		}
		a := Archive{Deps: true}
		if err := a.Add(prog + ":/p"); err != nil {
			t.Fatal(err)
		}
		if _, got := made(t, &a)[guestFolder[1:]+"/"+unwinder]; got != c.want {
			t.Errorf("%s: %v", c.call, got)
		}
	}
}

func TestSameFilesGiveTheSameArchive(t *testing.T) {
	var first bytes.Buffer
	for i := range 5 {
		var a Archive
		var b bytes.Buffer
		if err := a.Add("."); err != nil {
			t.Fatal(err)
		}
		a.WriteTo(&b)
		if i == 0 {
			first = b
		} else if !bytes.Equal(first.Bytes(), b.Bytes()) {
			t.Fatal("they differ")
		}
	}
}

func TestScriptsInFoldersMayLackTheirInterpreter(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "script"), "#!/no/such/shell -x\n", 0o755)
	write(t, filepath.Join(dir, "text"), "text", 0o644)
	var said bytes.Buffer
	a := Archive{Deps: true, Say: &said}
	if err := a.Add(dir + ":/d"); err != nil {
		t.Fatal(err)
	}
	got := made(t, &a)
	if len(got) != 3 || got["d/script"].Mode == 0 {
		t.Errorf("%d entries: %v", len(got), got)
	}
	want := filepath.Join(dir, "script") + ": added without what runs it: stat /no/such/shell: no such file or directory\n"
	if said.String() != want {
		t.Errorf("said %q, want %q", &said, want)
	}
}

// TestCacheIsWhatLdconfigReads: each library of a program is in the cache, in the order in which the dynamic linker
// searches, and once, though other folders have copies.
func TestCacheIsWhatLdconfigReads(t *testing.T) {
	a := Archive{Deps: true}
	if err := a.Add("/bin/bash"); err != nil {
		t.Skip(err)
	}
	for _, dir := range []string{"/usr/lib64/", "/usr/lib/", "/usr/lib/x86_64-linux-gnu/"} {
		if err := a.Add(guestFolder + "/libc.so.6:" + dir + "libc.so.6"); err != nil {
			t.Skip(err)
		}
	}
	cache := made(t, &a)[cachePath[1:]].Data
	file := write(t, filepath.Join(t.TempDir(), "cache"), string(cache), 0o644)
	out, err := exec.Command("/sbin/ldconfig", "-p", "-C", file).CombinedOutput()
	if err != nil {
		t.Skip("no ldconfig: ", err)
	}
	for name := range a.files {
		if strings.HasPrefix(name, guestFolder) && !strings.Contains(string(out), path.Base(name)+" (libc6,x86-64) => "+name) {
			t.Errorf("no %s in\n%s", name, out)
		}
	}
	if n := strings.Count(string(out), "libc.so.6 "); n != 1 {
		t.Errorf("libc.so.6 is there %d times:\n%s", n, out)
	}
	sorted := []string{"libz.so.10", "libz.so.9", "libm.so", "libm-1.so"}
	if !slices.IsSortedFunc(sorted, func(a, b string) int { return compareNames(b, a) }) {
		t.Errorf("%v is not the order", sorted)
	}
}
