package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"sonde/qemu/machine"
)

// watch grades whenever a file of the lab is saved, and shows the first failure only, until the user
// leaves.
func watch(o options) int {
	defer singleKeys()()
	keys := make(chan byte)
	go func() {
		defer close(keys)
		for in := bufio.NewReader(os.Stdin); ; {
			key, err := in.ReadByte()
			if err != nil {
				return
			}
			keys <- key
		}
	}()
	lab, err := readLab(o.root, o.lab)
	if err != nil {
		fmt.Fprintln(os.Stderr, "grade:", err)
		return statusUsage
	}
	w := &watcher{options: o, lab: lab, last: &scores{lab: lab}}
	w.grade()
	for {
		select {
		case key, ok := <-keys:
			if !ok || key == 'q' {
				return w.last.status(nil)
			}
			w.press(key)
		case <-time.After(time.Second / 3):
			if now := saved(o.in, lab.Files); now != w.saved {
				w.grade()
			}
		}
	}
}

// singleKeys has a terminal give us each key as it is pressed, and returns what undoes that. Where stty is
// not known, the keys come with Enter.
func singleKeys() (restore func()) {
	stty := func(args ...string) error {
		cmd := exec.Command("stty", args...)
		cmd.Stdin = os.Stdin
		return cmd.Run()
	}
	if stty("-icanon", "-echo", "min", "1") != nil {
		return func() {}
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	restore = func() { stty("icanon", "echo") }
	go func() {
		<-stop
		restore()
		os.Exit(machine.StatusInterrupt)
	}()
	return restore
}

// A watcher shows one failure at a time.
type watcher struct {
	options
	lab   *Lab
	saved string
	last  *scores
	at    int // which of the failures is shown
	hints int // how many hints have been shown for it
}

func (w *watcher) grade() {
	w.saved = saved(w.in, w.lab.Files)
	s, err := grade(w.options)
	if err != nil {
		fmt.Println("grade:", err)
		if s == nil {
			return
		}
	}
	w.last, w.at, w.hints = s, 0, 0
	w.show()
}

// saved says when the files were saved.
func saved(dir string, files []string) (all string) {
	for _, name := range files {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
			all += info.ModTime().String() + "\n"
		}
	}
	return all
}

func (w *watcher) failures() (list []*Result) {
	if w.last.unbuilt != "" {
		return nil
	}
	for _, r := range w.last.results {
		if r.Outcome != OK {
			list = append(list, r)
		}
	}
	return list
}

func (w *watcher) show() {
	points, of := w.last.sum()
	fmt.Printf("\nlab %d: %d of %d points\n", w.lab.N, points, of)
	list := w.failures()
	switch {
	case w.last.unbuilt != "":
		fmt.Println(indent(w.last.unbuilt, 2))
	case len(list) > 0:
		w.last.row(os.Stdout, list[w.at%len(list)])
	default:
		w.complete()
	}
	fmt.Println("save to try again; keys: h a hint, n the next failure, a all, q quit")
}

// complete says what comes after the last of the points that can be seen.
func (w *watcher) complete() {
	if w.lab.Hidden != "" {
		fmt.Println("hidden, and not run here:", w.lab.Hidden)
	}
	if next, err := readLab(w.root, w.lab.N+1); err == nil {
		fmt.Printf("next: make lab LAB=%d, %s\n", next.N, next.Title)
	}
}

func (w *watcher) press(key byte) {
	list := w.failures()
	switch {
	case key == 'a':
		w.last.print(os.Stdout)
	case key == 'n':
		w.at, w.hints = w.at+1, 0
		w.show()
	case key == 'h' && len(list) > 0:
		hints := w.lab.hints(list[w.at%len(list)].Test.ID)
		if w.hints < len(hints) {
			w.hints++
		}
		for _, h := range hints[:w.hints] {
			fmt.Println(h)
		}
	}
}

// hints returns the hints for a test, from the section of hints.md that is called like it: one for
// each item of its list.
func (l *Lab) hints(id string) (list []string) {
	text, _ := os.ReadFile(filepath.Join(l.Dir, "hints.md"))
	here := false
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, "\n")
		name, heading := strings.CutPrefix(line, "## ")
		switch {
		case heading:
			here = name == id
		case !here || line == "":
		case line[0] >= '1' && line[0] <= '9':
			list = append(list, line)
		case len(list) > 0:
			list[len(list)-1] += "\n" + line
		}
	}
	return list
}
