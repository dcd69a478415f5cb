package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sonde/internal/image"
	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// TestOwnProgramsDoAsOnTheHost: the programs that the image carries, which are Go with
// goroutines, collections, timers and child processes, print in ring 3 what they print
// on the host.
func TestOwnProgramsDoAsOnTheHost(t *testing.T) {
	runsBeside(t)
	if _, err := normalImage(); err != nil { // builds them
		t.Fatal(err)
	}
	root, err := image.Root()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"sh", "work", "cat", "shasum", "xargs", "mkdir", "cp", "find", "mktemp", "rm"} {
		if err := os.Symlink(filepath.Join(root, "build", "box"), filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	var all strings.Builder
	var want []byte
	for _, script := range []string{
		`work -n 4 -rounds 5 2>/dev/null`,
		`f() { echo "$1 is $((2 * $1))"; }; for i in 1 2 3; do f $i; done | cat | cat`,
		`echo "echo three" | xargs sh -c; (exit 5); echo $?; sh -c "exit 7" || echo "status $?"`,
		`d=$(mktemp -d); cd $d; mkdir -p w/d; echo text > w/d/f; cp w/d/f w/g; cd w; find . -type f | xargs cat; cat g | shasum; cd /; rm -r $d`,
	} {
		host := exec.Command(filepath.Join(bin, "sh"), "-c", script)
		host.Env = []string{"PATH=" + bin, "HOME=/", "TMPDIR=" + t.TempDir()}
		out, err := host.Output()
		if err != nil {
			t.Errorf("on the host: %v", err)
		}
		name := fmt.Sprintf("== %.8s\n", script)
		want = append(append(want, name...), out...)
		fmt.Fprintf(&all, "echo '%s'; /bin/sh -c '%s'; ", name[:len(name)-1], script)
	}
	for _, cpus := range cpus() {
		r := bootScript(t, normalImage, machine.Config{SMP: cpus, Script: all.String()})
		if got := string(r.Stdout); got != string(want) {
			t.Errorf("on %d CPUs, %s\n%s", cpus, firstDifference(got, string(want)), said(r))
		}
	}
}

// TestScriptsDoAsOnTheHost: the scripts of user/testdata, some hundred processes with
// pipes, files and children, print in ring 3 what the host's shell and commands print.
func TestScriptsDoAsOnTheHost(t *testing.T) {
	runsBeside(t)
	const folder = "../user/testdata"
	scripts, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command("/bin/sh", filepath.Join(scripts, "all"), scripts)
	host.Env = []string{"PATH=/usr/bin:/bin", "LC_ALL=C"}
	want, err := host.Output()
	if err != nil {
		t.Fatalf("on the host: %v", err)
	}
	files := archiveOf(t, folder+":/tests")
	several := []int{2} // on four, processes that begin and end keep the host busy for six times as long
	if long() {
		several = cpus()
	}
	for _, cpus := range several {
		r := bootScript(t, normalImage, machine.Config{SMP: cpus, Initrd: files, Script: "/bin/sh /tests/all /tests"})
		if got := string(r.Stdout); got != string(want) {
			t.Errorf("on %d CPUs, %s\n%s", cpus, firstDifference(got, string(want)), said(r))
		}
	}
}

// archiveOf puts a file or folder of the host into an archive.
func archiveOf(t *testing.T, spec string) string {
	t.Helper()
	var a initrd.Archive
	if err := a.Add(spec); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "archive.cpio"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := a.WriteTo(f); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// firstDifference shows the parts, one for each script, in which two texts differ first.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n== "), strings.Split(want, "\n== ")
	i := 0
	for i < min(len(g), len(w))-1 && g[i] == w[i] {
		i++
	}
	return "got  " + g[i] + "\nwant " + w[i]
}
