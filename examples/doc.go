// Package examples has the example modules of kprobes.txt and uprobes.txt, and funclatency, which is the example
// of probe/attach: a file for each. insmod NAME loads one.
package examples
