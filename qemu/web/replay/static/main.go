// Command static writes the page of all recordings: a file that a browser opens without a server.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sonde/qemu/web/replay"
)

func main() {
	out := flag.String("o", "build/replay.html", "`file` to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "replay:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	var b bytes.Buffer
	if err := replay.Page(&b); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(out, b.Bytes(), 0o644); err != nil {
		return err
	}
	path, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	fmt.Printf("open file://%s#tour in a browser\n", path)
	return nil
}
