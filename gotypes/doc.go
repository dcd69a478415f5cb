// Package gotypes knows the functions of a Go image as tools and people name
// them. CNames makes their names fit for tools that read only C.
package gotypes
