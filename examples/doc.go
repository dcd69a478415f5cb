// Package examples holds the example modules of the kprobes documents, one file
// each: insmod NAME loads them.
package examples
