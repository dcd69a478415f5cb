// Command web shows hits without a kernel: the page with recorded answers, for those who work on it, or all recordings
// as one file, which a browser opens without a server. With a kernel, the page is that of the launcher: go run ./qemu -web.
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
	fake := flag.Bool("fake", false, "serve the page, with recordings for a kernel")
	out := flag.String("replay", "", "write all recordings as one page to this `file`")
	flag.Parse()
	var err error
	switch {
	case *out != "" && !*fake:
		err = write(*out)
	case *fake && *out == "":
		err = show()
	default:
		err = fmt.Errorf("give either -fake or -replay FILE; with a kernel, the page is that of go run ./qemu -web")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "web:", err)
		os.Exit(1)
	}
}

// write writes the page of all recordings.
func write(out string) error {
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
