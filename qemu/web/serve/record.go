package serve

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"sonde/qemu/web/replay"
)

// tiers are what a hit can be recorded of; "": as the kernel does it.
var tiers = []string{"", "step", "boost", "int3", "jump", "return", "jprobe", "goroutine"}

// recording is what is to be recorded.
type recording struct {
	Place   string `json:"place"`
	Tier    string `json:"tier"`
	Hit     int    `json:"hit"`
	Way     bool   `json:"way"`
	Command string `json:"command"`
}

// glass records a hit, and returns it as HTML with all frames.
func (s *Server) glass(r *http.Request) (any, error) {
	q, err := body[recording](r)
	switch {
	case err != nil:
		return nil, err
	case !place.MatchString(q.Place):
		return nil, bad("%q is no place", q.Place)
	case !slices.Contains(tiers, q.Tier):
		return nil, bad("no hit is of the kind %q", q.Tier)
	}
	if p, place := s.program(q.Place); p != nil {
		words, err := programGlass(q, p.Guest+":"+place)
		if err != nil {
			return nil, err
		}
		return s.record(r.Context(), words)
	}
	words := []string{"glass"}
	if q.Way {
		words = append(words, "-o")
	} else if q.Tier != "" {
		words = append(words, "-t", q.Tier)
	}
	if q.Hit > 0 && !q.Way {
		words = append(words, "-n", strconv.Itoa(q.Hit))
	}
	words = append(words, "-j", q.Place)
	if q.Command != "" && !q.Way {
		words = append(words, "sh", "-c", q.Command)
	}
	return s.record(r.Context(), words)
}

// record runs what prints a recording.
func (s *Server) record(ctx context.Context, words []string) (any, error) {
	text, err := s.ask(ctx, words...)
	if err != nil {
		return nil, err
	}
	if i := strings.IndexByte(text, '{'); i > 0 { // what the command has printed
		text = text[i:]
	}
	return shown(text, typed(words))
}

// replay shows a recording that was saved, or one that lies in the tree: then only its name is given.
func (s *Server) replay(r *http.Request) (any, error) {
	q, err := body[struct{ Kind, Text string }](r)
	if err != nil {
		return nil, err
	}
	for _, k := range replay.Kinds {
		if k.Name == q.Kind {
			return shown(string(k.JSON()), k.Script)
		}
	}
	return shown(q.Text, "")
}

func shown(text, command string) (any, error) {
	v, err := replay.Read([]byte(text))
	if err != nil {
		return nil, bad("%v", err)
	}
	var b bytes.Buffer
	if err := v.HTML(&b); err != nil {
		return nil, err
	}
	return map[string]any{"html": b.String(), "text": text, "command": command}, nil
}
