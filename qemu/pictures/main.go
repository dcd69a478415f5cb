// Command pictures draws the pictures of the documents, from what a booted kernel says and from files of
// the tree:
//
//	hit      a hit by INT3 and one by a jump, beside each other
//	endings  the five endings of a hit by INT3
//	copy     an instruction, and its copy in a slot
//	region   what a jump covers
//	return   the stack of a call with a return probe
//	way      how an INT3 becomes a jump, and back, on two processors
//	grace    the grace period before the jump, as a time line
//	ledger   where the hits of a probe went
//	memory   the parts of the image
//	space    the address space
//	call     a system call, from the program to the device and back
//	boot     the boot as a time line, in instructions
//	layers   the layers of the tree
//	proof    the packages of the proof run, from docs/proof.md
//
// Each is drawn twice: NAME.svg for light pages, NAME-dark.svg for dark ones.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"sonde/internal/image"

	"sonde/qemu/draw"
)

func main() {
	out := flag.String("o", "docs/pictures", "`folder` to write to")
	files := flag.Bool("files", false, "draw only layers and proof, which need no kernel")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./qemu/pictures [-files] [-o FOLDER]\n\nDraws the pictures of the documents, from two boots in QEMU.")
		flag.PrintDefaults()
	}
	flag.Parse()
	if err := run(*out, *files); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(folder string, files bool) error {
	all, err := drawTree(".")
	if !files {
		var path string
		if path, err = image.Build(image.BuildOptions{}); err == nil {
			all, err = drawAll(path, ".")
		}
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, d := range all {
		for _, p := range draw.Palettes {
			if err := os.WriteFile(filepath.Join(folder, name+p.Suffix+".svg"), d.SVG(p), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}

// drawAll draws all pictures: of the kernel in the image, and of files of the tree.
func drawAll(image, tree string) (map[string]*draw.Drawing, error) {
	all, err := drawTree(tree)
	if err != nil {
		return nil, err
	}
	s, err := see(image)
	if err != nil {
		return nil, err
	}
	all["hit"] = drawHits("One hit of a probe by a breakpoint, and one by a jump", s.step, s.jump)
	all["endings"] = drawHits("The five endings of a hit of a breakpoint, and a hit of a jump", append(append([]hit{s.step}, s.endings...), s.jump)...)
	all["way"], all["boot"], all["memory"] = drawWay(s.way), drawBoot(s.boot), drawMemory(s.memory)
	all["copy"], all["region"] = drawCopy(s.step), drawRegion(s.jump)
	all["space"], all["call"] = drawSpace(s.layout, s.maps), drawCall(s.call)
	fields, err := os.ReadFile(filepath.Join(tree, "probe/ledger/ledger.go"))
	if err != nil {
		return nil, err
	}
	all["grace"], all["ledger"] = drawGrace(s.way), drawLedger(readLedger(s.ledger, string(fields)))
	all["return"], err = drawBack(s.back)
	return all, err
}

// drawTree draws the pictures that need no kernel.
func drawTree(tree string) (map[string]*draw.Drawing, error) {
	l, err := os.ReadFile(filepath.Join(tree, "internal/layers/layers.txt"))
	if err != nil {
		return nil, err
	}
	p, err := os.ReadFile(filepath.Join(tree, "docs/proof.md"))
	if err != nil {
		return nil, err
	}
	return map[string]*draw.Drawing{"layers": drawLayers(string(l)), "proof": drawProof(string(p))}, nil
}
