package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/story"
)

// TestStory runs the stories in testdata: TestStory/files/echo_writes_to_files.
func TestStory(t *testing.T) {
	runsBeside(t)
	files, err := filepath.Glob("testdata/*.story")
	if err != nil || len(files) == 0 {
		t.Fatal("no stories", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		stories, err := story.Parse(file, string(text))
		if err != nil {
			t.Error(err)
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".story")
		t.Run(name, func(t *testing.T) {
			for _, group := range groups(stories) {
				tell(t, file, group)
			}
		})
	}
}

// groups returns the stories of each machine: as many as its command line has room for, but alone one
// that says so, or what the machine is, or looks at the console.
func groups(stories []story.Story) (list [][]story.Story) {
	room := 0
	for _, s := range stories {
		shares := s.SMP == 0 && s.Machine+s.Memory+s.Append+s.Alone == "" && s.ExpectLog == nil
		need := len(s.Script) + len(between)
		if !shares || need > room {
			list, room = append(list, nil), machine.MaxCommandLine-len("-- "+clearLog)
		}
		list[len(list)-1] = append(list[len(list)-1], s)
		if room -= need; !shares {
			room = 0
		}
	}
	return list
}

// tell runs stories one after the other on a machine that the first describes.
func tell(t *testing.T, file string, group []story.Story) {
	var scripts []string
	for _, s := range group {
		scripts = append(scripts, s.Script)
	}
	first := group[0]
	out, status, r := bootScripts(t, normalImage, machine.Config{
		Machine: first.Machine, SMP: max(first.SMP, 1), Memory: first.Memory, Append: first.Append,
	}, scripts)
	for i, s := range group {
		t.Run(s.Name, func(t *testing.T) {
			wrong := s.Check(out[i], string(r.Log), status[i])
			if len(wrong) > 0 {
				t.Errorf("%s:%d: %s\n%s", file, s.Line, strings.Join(wrong, "\n"), said(r))
			}
		})
	}
}
