package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// These are what a span of a page may name besides files and Go names. A span of several words is a
// command line, of which the first word is the name.
var (
	makeSpan   = regexp.MustCompile("^make ([a-z][a-z-]*)")
	sysctlSpan = regexp.MustCompile(`^(?:sysctl (?:-w )?)?((?:debug|kernel|vm)\.[a-z_-]+)(?:=|$)`)
	ownPackage = regexp.MustCompile(`^sonde/([\w/]+)(?:\.[\w(*]|$)`)
	wordSpan   = regexp.MustCompile(`^([a-z_]+) [^ ]`)
	target     = regexp.MustCompile(`(?m)^([a-z][a-z-]*):`)
	sysctlName = regexp.MustCompile(`sysctl\.New\w+\(\s*"([a-z._-]+)"`)
	ownCommand = regexp.MustCompile(`Name:\s+"([^"]+)"`)
)

// known is what the tree has under names that are not files.
type known struct{ targets, sysctls, commands map[string]bool }

// matchesIn returns the first submatches of a pattern in files.
func matchesIn(t *testing.T, of *regexp.Regexp, patterns ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files at %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range of.FindAllStringSubmatch(string(text), -1) {
				names[m[1]] = true
			}
		}
	}
	return names
}

func readKnown(t *testing.T) known {
	k := known{
		targets:  matchesIn(t, target, "Makefile"),
		sysctls:  map[string]bool{},
		commands: matchesIn(t, ownCommand, "shell/*.go", "ktest/*.go"),
	}
	for name := range matchesIn(t, sysctlName, "*/*.go", "*/*/*.go", "*/*/*/*.go") {
		k.sysctls[strings.ReplaceAll(name, "_", "-")] = true
	}
	for _, pattern := range []string{"tools/*.bt", "user/testdata/*", "course/labs/7/*"} {
		files, _ := filepath.Glob(filepath.Join(root, pattern))
		for _, file := range files {
			k.commands[strings.TrimSuffix(filepath.Base(file), ".bt")] = true
		}
	}
	maps.Copy(k.commands, matchesIn(t, regexp.MustCompile(`(?m)^\t"([a-z0-9]+)":`), "user/main.go"))
	return k
}

// elsewhere are first words of spans that are not commands of the kernel: programs of the host and of
// QEMU, and words of the languages that pages quote.
var elsewhere = strings.Fields("git go make dd apt sudo gdb hbreak gopls debootstrap diff find perf clang bpftrace qemu info cutmem " +
	"prog map link btf format feature cd for while declare struct const func int kp di output")

// missing returns the names in a page's spans that the tree does not have.
func (k known) missing(all tree, text string) (missing []string) {
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		s := m[1]
		if m := makeSpan.FindStringSubmatch(s); m != nil && !k.targets[m[1]] {
			missing = append(missing, s)
		}
		if m := sysctlSpan.FindStringSubmatch(s); m != nil && !k.sysctls[strings.ReplaceAll(m[1], "_", "-")] {
			missing = append(missing, s)
		}
		if m := ownPackage.FindStringSubmatch(s); m != nil && !all.paths[m[1]] {
			missing = append(missing, s)
		}
		if m := wordSpan.FindStringSubmatch(s); m != nil && !k.commands[m[1]] && !slices.Contains(elsewhere, m[1]) {
			missing = append(missing, s)
		}
	}
	return missing
}

// TestPagesNameWhatCanBeTyped: targets of make, kernel parameters, packages and commands that a page
// names in code are there.
func TestPagesNameWhatCanBeTyped(t *testing.T) {
	k, all := readKnown(t), readTree(t)
	if len(k.targets) < 20 || len(k.sysctls) < 10 || len(k.commands) < 100 {
		t.Fatalf("%d targets, %d parameters, %d commands", len(k.targets), len(k.sysctls), len(k.commands))
	}
	for _, path := range pages(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range k.missing(all, string(text)) {
			t.Errorf("%s: `%s` names something that is not there", strings.TrimPrefix(path, root+"/"), name)
		}
	}
}

func TestMissingNamesAreFound(t *testing.T) {
	k, all := readKnown(t), readTree(t)
	const text = "`make check`, `make chekc`, `sysctl -w debug.kprobes_optimization=0`, `debug.kprobes-plane`,\n" +
		"`sonde/kernel/vfs.Read`, `sonde/kernel/vsf.Read`, `sonde/kprobe`, `insmod kprobe_example`, `explane vfs.Read`, `dmesg -n 1`, `myprog -n 1`\n"
	want := []string{"make chekc", "debug.kprobes-plane", "sonde/kernel/vsf.Read", "sonde/kprobe", "explane vfs.Read"}
	if got := k.missing(all, text); !slices.Equal(got, want) {
		t.Errorf("missing %q, want %q", got, want)
	}
}
