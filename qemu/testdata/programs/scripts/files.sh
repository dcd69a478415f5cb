# Files and folders, by coreutils. Dates and owners are those of the files below.
set -e
umask 022
work=$(mktemp -d /tmp/files.XXXXXX)
cd "$work"
for name in one two three; do echo "$name" >$name; done
cat one two three | wc
cp one copy && mv copy moved && cat moved
ln -s one link && readlink link && cat link
ln two hard && stat -c '%h %s %a %F %n' two hard link
chmod 640 three && stat -c '%a %A' three
touch -d '2001-02-03 04:05:06 UTC' one && stat -c %Y one
TZ=UTC ls -l --time-style=+%Y-%m-%dT%H:%M:%S one
mkdir -p a/b/c && cp -r a again && rmdir -p again/b/c
ls -1F
cp --sparse=never one a/b/c/one && mv a/b a/d && ls -R a
truncate -s 100 big && dd if=/dev/zero of=big bs=10 seek=5 count=2 conv=notrunc status=none && wc -c big
printf 'append\n' >>one && tail -n 1 one
[ -d a ] && [ -L link ] && [ ! -e nothing ] && [ one -nt link ] || echo "tests of files"
cat nothing 2>&1 || echo "status $?"
rm -r a/d/c/nothing 2>&1 || echo "status $?"
mkdir a 2>&1 || echo "status $?"
split -l 1 one part. && ls part.*
basename "$PWD" | cut -c 1-6
cd / && rm -r "$work" && test ! -e "$work"
exit 7
