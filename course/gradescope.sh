#!/bin/sh
# gradescope.sh LAB FILE [CLASS]: make the zip file that Gradescope takes as an autograder for a lab: this commit with
# its hidden tests, and without solutions. An assignment is for one lab.
set -eu
lab=${1-} file=${2-} class=${3-}
root=$(cd "$(dirname "$0")/.." && pwd)
if [ -z "$file" ] || [ ! -d "$root/course/labs/$lab/starter" ]; then
	echo "usage: course/gradescope.sh LAB FILE.zip [CLASS]" >&2
	exit 2
fi
if [ -e "$file" ]; then
	echo "$file exists: give the name of a new file" >&2
	exit 2
fi
case $file in /*) ;; *) file=$PWD/$file ;; esac
cd "$root"
git archive --format=zip -o "$file" --add-file=course/gradescope/setup.sh --add-file=course/gradescope/run_autograder \
	--add-virtual-file="lab:$lab" --add-virtual-file="class:$class" --prefix=tree/ HEAD -- . ':!course/solutions' ':!course/wrong' ':!course/gradescope'
echo "$file is an autograder for lab $lab${class:+, class $class}"
