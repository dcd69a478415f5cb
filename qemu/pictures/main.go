// Command pictures draws the pictures of the documents, from what a booted kernel says and from files of
// the tree:
//
//	hit      a hit by INT3 and one by a jump, beside each other
//	way      how an INT3 becomes a jump, and back, on two processors
//	boot     the boot as a time line, in instructions
//	layers   the layers of the tree
//
// Each is drawn twice: NAME.svg for light pages, NAME-dark.svg for dark ones.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sonde/internal/image"
)

func main() {
	out := flag.String("o", "docs/pictures", "`folder` to write to")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./qemu/pictures [-o FOLDER]\n\nDraws the pictures of the documents, from two boots in QEMU.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	path, err := image.Build(image.BuildOptions{})
	if err != nil {
		return err
	}
	all, err := draw(path, "internal/layers/layers.txt")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, d := range all {
		for _, p := range palettes {
			if err := os.WriteFile(filepath.Join(folder, name+p.suffix+".svg"), d.svg(p), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// draw draws all pictures: of the kernel in the image, and of the layers in that file.
func draw(image, layers string) (map[string]*drawing, error) {
	l, err := os.ReadFile(layers)
	if err != nil {
		return nil, err
	}
	s, err := see(image)
	if err != nil {
		return nil, err
	}
	return map[string]*drawing{
		"hit": drawHit(s.step, s.jump), "way": drawWay(s.way), "boot": drawBoot(s.boot), "layers": drawLayers(string(l)),
	}, nil
}
