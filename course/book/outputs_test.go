package book

import (
	"context"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"sonde/course/blocks"
	"sonde/internal/image"
	"sonde/qemu/machine"
)

var update = flag.Bool("update", false, "write what comes out into the pages")

var only = flag.String("only", "", "the beginning of the pages whose outputs are compared: 03")

const limit = 9 * time.Minute // for a hang, not for a slow host

// run boots the machine, and returns the lines that each block has printed.
func run(t *testing.T, o blocks.Boot, kernel string) map[string][]string {
	t.Helper()
	if o.Launch {
		return map[string][]string{o.Commands[0].String(): launched(t, o.Commands[0], kernel)}
	}
	r, err := machine.Run(context.Background(), machine.Config{Image: kernel, SMP: o.SMP, Memory: o.Memory, Script: o.Script(false), Timeout: limit})
	if err != nil {
		t.Errorf("%v: %v\n%s\n%s", o.Commands[0], err, r.Log, r.Stdout)
	}
	said, err := o.Split(string(r.Stdout))
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, r.Log, r.Stdout)
	}
	return said
}

// kernel builds the kernel with the modules of the chapters, and of the exercises' solutions.
func kernel(t *testing.T) string {
	t.Helper()
	path, err := image.Build(image.BuildOptions{With: []string{"modules", solutions}, Say: os.Stderr})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutputs: what chapters, solutions and slides show as output is what comes out. The commands of all pages that need
// the same machine run in one boot.
func TestOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("boots")
	}
	pages := slices.DeleteFunc(checked(t), func(p page) bool { return !strings.HasPrefix(p.name, *only) })
	slices.SortStableFunc(pages, func(a, b page) int { return strings.Compare(a.name[:2], b.name[:2]) })
	var all []blocks.Block
	for _, p := range pages {
		all = append(all, p.blocks...)
	}
	image, said := kernel(t), map[string][]string{}
	var mutex sync.Mutex
	t.Run("machines", func(t *testing.T) {
		for i, o := range blocks.Boots(all, false) {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				now := run(t, o, image)
				mutex.Lock()
				defer mutex.Unlock()
				maps.Copy(said, now)
			})
		}
	})
	for _, p := range pages {
		p.compare(t, said)
	}
}

// compare compares each output with what the commands in front of it have printed.
func (p page) compare(t *testing.T, said map[string][]string) {
	t.Helper()
	var out []string
	lines := strings.Split(p.text, "\n")
	for _, b := range p.blocks {
		switch {
		case b.Kind() == "sonde":
			out = said[b.String()]
		case b.Option("match") != "":
			if *update {
				copy(lines[b.Line:], b.Renew(out))
			} else if err := b.Compare(out); err != nil {
				t.Error(err)
			}
		}
	}
	if text := strings.Join(lines, "\n"); text != p.text {
		if err := os.WriteFile(filepath.Join(p.dir, p.name), []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}
