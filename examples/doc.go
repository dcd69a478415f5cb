// Package examples has the example modules of kprobes.txt and uprobes.txt, and the
// ready-made modules funccount, funclatency, argdist and stackcount, one file each. insmod
// NAME loads one.
package examples
