// Package gotypes knows the functions of a Go image as tools and people name them, and where their
// arguments are. CNames makes their names fit for tools that read only C; Assign says which
// registers carry the arguments and the results, from their types.
package gotypes
