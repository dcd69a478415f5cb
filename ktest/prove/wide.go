//go:build linux

package main

import (
	"context"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"sonde/internal/image"
	"sonde/qemu/initrd"
	"sonde/qemu/machine"
)

// wide is what the part instructions has no time for: its work is done once.
var wide = Part{
	Name: "wide",
	Says: "a breakpoint on each instruction of many functions at once, removed after some hits, while work runs that reaches as much as possible: " +
		"programs, all commands, modules, and the kernel's own tests; the result of the work stays the same. Tests that count breakpoints or wait for a limited time may fail; each that fails is noted",
	Units: wideUnits,
}

// tour is the wide work.
//
//go:embed tour.txt
var tour string

// widePerUnit is how many functions a unit has: with 305,000 breakpoints in 4000 functions a short
// tour took 100 s of CPU, with 50,000 in 1000 of them 10 s.
const (
	widePerUnit = 1000
	wideCost    = 3 * time.Minute
	wideMemory  = "2G" // for a hundred thousand probes
)

// wideSilence is how long one line of the tour may take, wideLimit all of them: a busy host gives
// a machine a tenth of a processor.
const (
	wideSilence = 15 * time.Minute
	wideLimit   = 4 * time.Hour
)

func wideUnits(m *Machines) (all []Unit, err error) {
	n, _, err := m.size()
	if err != nil {
		return nil, err
	}
	key, err := wideKey()
	for from := 0; from < n; from += widePerUnit {
		to, smp := min(from+widePerUnit, n), 1+from/widePerUnit%2
		all = append(all, Unit{
			Name: fmt.Sprintf("%05d-%05d smp%d", from, to, smp), Key: key, Cost: wideCost,
			Run: func(ctx context.Context) Outcome { return m.everythingOnce(ctx, smp, from, to, tour, widePrograms...) },
		})
	}
	return all, err
}

// wideKey is a sum of the tour and the sources of its programs.
func wideKey() (string, error) {
	h := sha256.New()
	io.WriteString(h, tour)
	for _, name := range widePrograms {
		path, err := source(name)
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return "", fmt.Errorf("prove: %w", err)
		}
		fmt.Fprintf(h, "%s %x\n", name, sha256.Sum256(text))
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// source is the file of a program.
func source(name string) (string, error) {
	root, err := image.Root()
	return filepath.Join(root, "qemu", "testdata", "programs", name+".c"), err
}

// everythingOnce has a machine do the tour, which needs the programs, with breakpoints on
// functions.
func (m *Machines) everythingOnce(ctx context.Context, smp, from, to int, tour string, programs ...string) (o Outcome) {
	archive, err := makeArchive(tour, programs)
	if err != nil {
		return Outcome{Err: err}
	}
	defer os.RemoveAll(filepath.Dir(archive))
	c := machine.Config{SMP: smp, Memory: wideMemory, Initrd: archive, Timeout: wideLimit}
	h, err := m.prove(ctx, c, wideSilence, fmt.Sprintf("wide %d %d", from, to), &o, func(line string) {
		word, rest, _ := strings.Cut(line, " ")
		if word != "r" {
			return
		}
		for f := range strings.FieldsSeq(rest) {
			if addr, err := strconv.ParseUint(f, 16, 64); err == nil {
				o.Reached = append(o.Reached, addr)
			}
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	o.Err = err
	for i, note := range o.Notes {
		o.Notes[i] = fmt.Sprintf("functions %d to %d: %s", from, to, note)
	}
	if !h.ended || h.why != "" {
		o.Findings = append(o.Findings, fmt.Sprintf("the machine ended at %s: %s", h.at, h.why))
	}
	return o
}

// widePrograms are those of qemu/testdata/programs that the tour calls.
var widePrograms = strings.Fields("hello threads signals calls sockets inet state bound far ptys files badmemory refusals fdcalls watchfiles random probed dynamic")

// makeArchive makes an archive with the tour, its programs and busybox, in a folder of its own.
func makeArchive(tour string, programs []string) (path string, err error) {
	dir, err := os.MkdirTemp("", "sonde-prove")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			os.RemoveAll(dir)
		}
	}()
	a := initrd.Archive{Deps: true}
	if err = os.WriteFile(filepath.Join(dir, "tour"), []byte(tour), 0o644); err != nil {
		return "", err
	}
	if err = a.Add(filepath.Join(dir, "tour") + ":/prove/tour"); err != nil {
		return "", err
	}
	for _, name := range programs {
		if err = compile(name, filepath.Join(dir, name)); err != nil {
			return "", err
		}
		if err = a.Add(filepath.Join(dir, name) + ":/bin/" + name); err != nil {
			return "", err
		}
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return "", fmt.Errorf("prove: %w: run make setup", err)
	}
	if err = a.Add(busybox + ":/bin/busybox"); err != nil {
		return "", err
	}
	path = filepath.Join(dir, "archive.cpio")
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	_, err = a.WriteTo(f)
	return path, err
}

// compile compiles a program, as the tests of programs do.
func compile(name, to string) error {
	from, err := source(name)
	if err != nil {
		return err
	}
	args := []string{"-O1", "-pthread", "-w", "-o", to, from}
	if name != "dynamic" {
		args = append(args, "-static")
	}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		return fmt.Errorf("prove: gcc %s: %w\n%s", name, err, out)
	}
	return nil
}
