package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

var errPeer = errors.New("not NAME<TAB>NUMBER")

// figures are another kernel's, in this command's names and units.
type figures map[string]float64

// netRows are the rows that the peer calls ROW.net.
var netRows = []string{"int3", "k", "b", "e", "o", "r", "kr", "ro", "kro", "w", "x", "bpf_b", "bpf_r"}

// peerNames has the peer's names for the others, with the factor to this command's unit.
var peerNames = map[string]struct {
	name   string
	factor float64
}{
	"call":                {"base_mov", 1},
	"u":                   {"u_bare_nop.net", 1},
	"u_emul":              {"u_bare_push.net", 1},
	"u_boost":             {"u_bare_mov.net", 1}, // Linux steps it
	"u_step":              {"u_bare_mov.net", 1},
	"ur":                  {"ur_bare_nop.net", 1},
	"bpf_count":           {"bpf_o.net", 1},
	"bpf_ro":              {"bpf_r.net", 1}, // both enter by ftrace
	"bpf_u":               {"bpf_u_nop.net", 1},
	"bpf_ur":              {"bpf_ur_nop.net", 1},
	"regpair":             {"regpair_us", 1e3},
	"batch256_register":   {"batch256_register_ms", 1e6},
	"batch256_unregister": {"batch256_unregister_ms", 1e6},
	"reg_to_opt":          {"time_to_optimized_us", 1e3},
	"batch256_optimized":  {"batch256_all_optimized_ms", 1e6},
	"boot_ms":             {"boot_ms", 1},
	"boot_microvm_ms":     {"boot_microvm_ms", 1},
}

// readPeer reads the file that PEER names; nil without one.
func readPeer(path string) (figures, error) {
	if path == "" {
		return nil, nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parsePeer(string(b))
}

// parsePeer reads lines NAME<TAB>NUMBER. A name may begin with
// KERNEL/MITIGATIONS/smpN/; of several kernels, with mitigations off and one CPU,
// the best figure counts. So it does for KERNEL/smpN/ROW, a row of programs.
func parsePeer(text string) (figures, error) {
	raw := figures{}
	for row := range strings.Lines(text) {
		row = strings.TrimSpace(row)
		if row == "" || row[0] == '#' || strings.HasPrefix(row, headed) {
			continue
		}
		fields := strings.Split(row, "\t")
		if len(fields) < 2 {
			return nil, fmt.Errorf("%q: %w", row, errPeer)
		}
		v, err := strconv.ParseFloat(fields[1], 64)
		if err != nil && strings.HasPrefix(fields[1], "FAIL") {
			continue // a row that does not work on that kernel
		}
		if err != nil {
			return nil, fmt.Errorf("%q: %w", row, errPeer)
		}
		name, ok := plainName(fields[0])
		if old, have := raw[name]; ok && (!have || v < old) {
			raw[name] = v
		}
	}
	return raw.translate(), nil
}

// plainName removes the prefix; false: the figure is of another configuration.
func plainName(name string) (string, bool) {
	parts := strings.Split(name, "/")
	switch len(parts) {
	case 1:
		return name, true
	case 2: // smpN/ROW
		return name, true
	case 3:
		return parts[1] + "/" + parts[2], true
	case 4:
		return parts[3], parts[1] == "off" && parts[2] == "smp1"
	}
	return "", false
}

// translate returns the figures under this command's names; they may have them already.
func (raw figures) translate() figures {
	out := figures{}
	for name, v := range raw {
		if _, ours := peerNames[name]; ours || slices.Contains(netRows, name) || strings.Contains(name, "/") {
			out[name] = v
		}
	}
	for _, name := range netRows {
		if v, ok := raw[name+".net"]; ok {
			out[name] = v
		}
	}
	for name, there := range peerNames {
		if v, ok := raw[there.name]; ok {
			out[name] = v * there.factor
		}
	}
	return out
}
