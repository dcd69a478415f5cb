package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sonde/qemu/machine"
	"sonde/qemu/story"
)

// TestStory runs the stories in testdata, each on a machine of its own:
// TestStory/files/echo_writes_to_files.
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
		t.Run(strings.TrimSuffix(filepath.Base(file), ".story"), func(t *testing.T) {
			for _, s := range stories {
				t.Run(s.Name, func(t *testing.T) { tell(t, file, s) })
			}
		})
	}
}

func tell(t *testing.T, file string, s story.Story) {
	r := bootScript(t, normalImage, machine.Config{
		Machine: s.Machine, SMP: max(s.SMP, 1), Memory: s.Memory, Append: s.Append, Script: s.Script,
	})
	wrong := s.Check(string(r.Stdout), string(r.Log), r.Status)
	if len(wrong) > 0 {
		t.Errorf("%s:%d: %s\n%s", file, s.Line, strings.Join(wrong, "\n"), said(r))
	}
}
