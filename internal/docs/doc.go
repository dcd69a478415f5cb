// Package docs holds the tests of the pages: the files, tests and stories that they
// name must exist. Renaming a file breaks a page that names it, and nothing else would tell.
package docs
