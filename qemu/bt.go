package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"sonde/qemu/machine"
)

// bt is a script in bpftrace's language that the kernel runs, instead of one of its shell; of the
// latter, -c is the command along with which it runs.
type bt struct {
	script string // or a file with one
	given  bool
	format string // "": text
	out    string // a file; "": standard output

	against string // of a flame graph: the profile that it is compared with; "": none
}

// formats are what -format can be, and how the kernel's bt is told.
var formats = map[string]string{"text": "", "json": "-f json ", "folded": "--format folded ", "chrome": "--format chrome ", "perfetto": "--format perfetto ", "pprof": "--format pprof ", flame: "--format pprof "}

// flame is the format that the launcher draws, of a profile.
const flame = "flame"

// btScript is where the script is in the kernel's tree of files.
const btScript = "/bt.script"

// check refuses options that mean nothing.
func (b bt) check() error {
	switch _, known := formats[b.format]; {
	case !b.given && (b.format != "" || b.out != ""):
		return errors.New("-format and -o are for what -bt prints")
	case b.against != "" && b.format != flame:
		return errors.New("-against is for -format flame")
	case b.format == flame && b.out == "":
		return errors.New("-format flame: -o says where to: FILE.svg, or FILE.html for a page")
	case b.given && b.script == "":
		return errors.New("-bt: the script is empty")
	case b.format != "" && !known:
		return fmt.Errorf("-format %q: it must be text, json, folded, flame, chrome, perfetto or pprof", b.format)
	}
	return nil
}

// command is the line by which the kernel's shell runs the script along with command. Only what the
// script says is printed; without a command, the end of what is typed ends it.
func (b bt) command(command string) string {
	if command == "" {
		command = "cat /dev/console"
	}
	quoted := "'" + strings.ReplaceAll(command, "'", `'\''`) + "'"
	along := "repeat 1 " + quoted + " > /dev/null"
	return "bt -q " + formats[b.format] + "-c '" + strings.ReplaceAll(along, "'", `'\''`) + "' - < " + btScript + " 2> /dev/console"
}

// save writes the script to a temporary file, for the archive of -add. The caller removes its folder.
//
// Errors: those of reading and writing.
func (b bt) save() (spec string, remove func(), err error) {
	text := []byte(b.script)
	if !strings.Contains(b.script, "{") {
		if text, err = os.ReadFile(b.script); err != nil {
			return "", nil, fmt.Errorf("-bt: this is neither a script nor a file with one: %w", err)
		}
	}
	dir, err := os.MkdirTemp("", "sonde-bt")
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, "script")
	return file + ":" + btScript, func() { os.RemoveAll(dir) }, os.WriteFile(file, text, 0o644)
}

// runBt runs the script: what it says goes to standard output or to the file of -o, what is wrong
// with it to standard error. ^C ends the script, which then prints its maps; a second one, the machine.
func runBt(o options) (machine.Result, error) {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	says := &withoutLog{to: os.Stderr}
	o.Log = says
	if o.bt.out == "" {
		o.Stdout = os.Stdout
	}
	s, err := machine.Start(ctx, o.Config)
	if err != nil {
		return machine.Result{Status: machine.StatusQEMU}, err
	}
	interrupts, ended := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	go func() {
		for _, end := range []func(){func() { s.Type(endOfInput) }, cancel} {
			select {
			case <-interrupts:
				end()
			case <-ended:
				return
			}
		}
	}()
	result, err := s.Wait()
	close(ended)
	switch {
	case result.Crash:
		os.Stderr.Write(result.Log)
	case err == nil && o.bt.out != "" && (result.Status == 0 || len(result.Stdout) > 0):
		if err = o.bt.write(result.Stdout); err != nil {
			result.Status = 1
		}
	}
	return result, err
}

// write writes what was printed to the file of -o.
func (b bt) write(text []byte) error {
	if b.format == flame {
		return drawFlame(text, b.title(), b.against, b.out)
	}
	return os.WriteFile(b.out, text, 0o644)
}

// title is that of a flame graph: the script, if it is short.
func (b bt) title() string {
	if text := strings.Join(strings.Fields(b.script), " "); len(text) < 120 {
		return text
	}
	return "stacks"
}

// endOfInput is ^D.
const endOfInput = "\x04"

// withoutLog passes on lines that are not the kernel's log.
type withoutLog struct {
	to   io.Writer
	rest []byte
}

// stamped is a line of the log.
var stamped = regexp.MustCompile(`^\[ *\d+\.\d{6}\] `)

func (w *withoutLog) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		end := slices.Index(w.rest, '\n') + 1
		if end == 0 {
			return len(b), nil
		}
		if line := w.rest[:end]; !stamped.Match(line) {
			if _, err := w.to.Write(line); err != nil {
				return 0, err
			}
		}
		w.rest = w.rest[end:]
	}
}
