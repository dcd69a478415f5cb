// Package docs holds the tests of what is written: that files, tests and stories
// which the pages name exist. Nobody reads a page again when he renames a file.
package docs
