package shell

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite what the stories expect")

// A story is what one sees at the prompt: lines with the prompt are typed,
// those after them are what must come out.
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.story")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".story"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := retell(string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0644); err != nil {
					t.Fatal(err)
				}
			} else if got != string(want) {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

// retell runs the lines of a story and tells what came out.
func retell(story string) string {
	var out strings.Builder
	s := New(fakeMachine(), &out)
	for text := range strings.Lines(story) {
		if cmd, ok := strings.CutPrefix(text, prompt); ok {
			s.History.Add(strings.TrimSuffix(cmd, "\n"))
			out.WriteString(text)
			if status := s.Run(cmd); status != 0 {
				fmt.Fprintf(&out, "(status %d)\n", status)
			}
		}
	}
	return out.String()
}
