package book

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"sonde/course/blocks"
	"sonde/internal/image"
	"sonde/qemu/machine"
)

var update = flag.Bool("update", false, "write what comes out into the pages")

// between is between commands that run on one machine. mark is at the beginning of the line that ends the output of
// one; none finds in the log what is not its own.
const (
	mark    = "== the next block: "
	between = "\necho; echo '" + mark + "'$?; dmesg -C\n"
	limit   = 9 * time.Minute // for a hang, not for a slow host
)

// A boot is all commands of a page that run on one machine, in order; or one command line of the launcher.
type boot struct {
	launch   bool
	smp      int
	memory   string
	commands []blocks.Block
}

// boots gathers the commands of a page by machine.
func (p page) boots() (all []boot) {
	for _, b := range p.blocks {
		if b.Kind() != "sonde" || b.Option("file") != "" { // what is quoted is run where it is from
			continue
		}
		if b.Head[1] == "launch" {
			all = append(all, boot{launch: true, commands: []blocks.Block{b}})
			continue
		}
		smp, _ := strconv.Atoi(b.Option("smp"))
		i := slices.IndexFunc(all, func(o boot) bool { return !o.launch && o.smp == smp && o.memory == b.Option("memory") })
		if i < 0 {
			i, all = len(all), append(all, boot{smp: smp, memory: b.Option("memory")})
		}
		all[i].commands = append(all[i].commands, b)
	}
	return all
}

// script is what the machine runs.
func (o boot) script() string {
	var all strings.Builder
	all.WriteString("dmesg -C\n")
	for _, b := range o.commands {
		all.WriteString(strings.Join(b.Text, "\n") + between)
	}
	return all.String()
}

// run boots the machine, and returns the lines that each block has printed, by the line of its fence.
func (o boot) run(t *testing.T, kernel string) map[int][]string {
	t.Helper()
	if o.launch {
		return map[int][]string{o.commands[0].Line: launched(t, o.commands[0], kernel)}
	}
	r, err := machine.Run(context.Background(), machine.Config{Image: kernel, SMP: o.smp, Memory: o.memory, Script: o.script(), Timeout: limit})
	if err != nil {
		t.Fatalf("%v: %v\n%s\n%s", o.commands[0], err, r.Log, r.Stdout)
	}
	said := map[int][]string{}
	parts := strings.Split(string(r.Stdout), "\n"+mark)
	if len(parts) != len(o.commands)+1 {
		t.Fatalf("%v: %d of %d blocks have ended\n%s\n%s", o.commands[0], len(parts)-1, len(o.commands), r.Log, r.Stdout)
	}
	for i, b := range o.commands {
		text := parts[i]
		if i > 0 {
			_, text, _ = strings.Cut(text, "\n") // the status of the one before
		}
		said[b.Line] = blocks.Lines(text)
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

// TestOutputs: what chapters and solutions show as output is what comes out.
func TestOutputs(t *testing.T) {
	if testing.Short() {
		t.Skip("boots")
	}
	image := kernel(t)
	for _, p := range checked(t) {
		what := map[string]string{".": "chapter", solutions: "solutions", decks: "slides"}[p.dir]
		t.Run(strings.TrimSuffix(p.name, ".md")+"/"+what, func(t *testing.T) {
			t.Parallel()
			said := map[int][]string{}
			for _, o := range p.boots() {
				for line, text := range o.run(t, image) {
					said[line] = text
				}
			}
			p.compare(t, said)
		})
	}
}

// compare compares each output with what the commands in front of it have printed.
func (p page) compare(t *testing.T, said map[int][]string) {
	t.Helper()
	var out []string
	lines := strings.Split(p.text, "\n")
	for _, b := range p.blocks {
		switch {
		case b.Kind() == "sonde":
			out = said[b.Line]
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

// TestBoots: commands of one machine run in one boot.
func TestBoots(t *testing.T) {
	p := page{blocks: blocks.Read("p", "```sonde run smp=2\na\n```\n```sonde run\nb\nc\n```\n```sonde run smp=2\nd\n```\n")}
	all := p.boots()
	if len(all) != 2 || all[0].smp != 2 || all[1].smp != 0 || all[0].script() != "dmesg -C\na"+between+"d"+between {
		t.Errorf("%+v", all)
	}
}
