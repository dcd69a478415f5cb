#!/bin/sh
# students.sh DIR CLASS: make the repository that the students of a class get: this commit, without
# solutions, hidden tests, wrong solutions, what tests them, and slides, whose notes have answers.
set -eu
dir=${1-} class=${2-}
if [ -z "$dir" ] || [ -z "$class" ]; then
	echo "make students DIR=folder CLASS=name" >&2
	exit 2
fi
if [ -e "$dir" ]; then
	echo "$dir exists: give the name of a new folder" >&2
	exit 2
fi
root=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$dir"
git -C "$root" archive HEAD | tar -x -C "$dir"
cd "$dir/course"
rm -rf solutions hidden wrong slides grade/testdata grade/*_test.go book/*_test.go INSTRUCTOR.md plans.md points.md cheating.md students.sh gradescope gradescope.sh
# README.md tells students nothing about what they have not got.
sed '/^\*\*Solutions/,/^$/d; /^## For those who teach/,$d' README.md >README.new
mv README.new README.md
echo "$class" >class.txt
mv workflow.yml ../.github/workflows/grade.yml
mv gitlab-ci.yml ../.gitlab-ci.yml
cd ..
rm .github/workflows/test.yml
echo "/build/
/lab/*.saved-*" >.gitignore # labs are handed in by pushing them
git init -q
git add -A
git -c user.name=course -c user.email=course@localhost commit -qm "The labs of class $class"
echo "$dir is a repository of one commit, for class $class"
